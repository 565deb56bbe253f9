// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Remembers which storage keys of TPMs gave this machine a secret back, so that a slot of this machine's is told from
/// one of another's without a word to the TPM. It is a hint, and no more: whoever asks the TPM finds out.
struct KnownChips {
  /// How many are remembered: the newest.
  private static let most = 8
  /// The longest name of a key that is remembered, in bytes; TPMs have names of 66 at most.
  private static let longest = 255
  /// The file's name in the directory of what belongs to this machine.
  private static let name = "chips"

  private let directory: String

  init(stateDirectory: String) { directory = stateDirectory + "/device" }

  /// The names, the newest first; what is not as it was written is none.
  private var names: [[UInt8]] {
    guard let place = try? StatePlace.file(Self.name, in: directory),
      let bytes = try? StateFile.peek(place, Self.most * (Self.longest + 1))
    else { return [] }
    var names: [[UInt8]] = []
    var rest = bytes[...]
    while let count = rest.first.map(Int.init), (1..<rest.count).contains(count) {
      names.append(Array(rest.dropFirst().prefix(count)))
      rest = rest.dropFirst(count + 1)
    }
    return names
  }

  /// Whether a slot is of this machine's TPM, as far as is known.
  func has(_ object: ChipObject) -> Bool { names.contains(object.storageKey) }

  /// Notes that a TPM of this machine has a slot's secret.
  func note(_ object: ChipObject) {
    let key = object.storageKey
    let before = names
    guard key.count <= Self.longest, before.first != key else { return }
    write([key] + before.filter { $0 != key }.prefix(Self.most - 1))
  }

  /// Notes that no TPM of this machine has it, any more or yet.
  func forget(_ object: ChipObject) {
    let before = names
    guard before.contains(object.storageKey) else { return }
    write(before.filter { $0 != object.storageKey })
  }

  /// Writes the file anew. One that cannot be written, or is torn, is a hint less.
  private func write(_ names: [[UInt8]]) {
    var bytes: [UInt8] = []
    for name in names { bytes += [UInt8(name.count)] + name }
    do throws(StorageError) {
      try FilePlace.makeDirectory(directory)
      let place = try StatePlace.file(Self.name, in: directory)
      place.remove()
      guard !bytes.isEmpty else { return }
      let file = try StateFile.open(place, lock: .exclusive, creating: true, patience: 50)
      try file.write(bytes.span, at: 0, length: bytes.count)
    } catch {}
  }
}
