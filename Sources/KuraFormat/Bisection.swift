// SPDX-License-Identifier: MIT

extension Array {
  /// Where the first element stands that does not come before something, of elements in order: a log of their count
  /// in looks, where each of a list is looked up in another.
  func bisected(_ comesBefore: (borrowing Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if comesBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
