// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension View {
  /// Draws the lock screen: nothing of the vault but its name.
  func draw(_ cover: Cover, _ model: borrowing Model, into grid: inout Grid) {
    let top = max(grid.rows / 2 - 4, 0)
    center(model.vault, top, .bold, into: &grid)
    center(state(cover), top + 1, [], into: &grid)
    let row = min(top + 4, grid.rows - 1)
    if let left = waiting(cover, model) {
      center("the next try is possible in " + left, row, .bold, into: &grid)
    } else if cover.isBusy {
      center(cover.isLocked ? "unlocking" : "checking", row, .dim, into: &grid)
    } else {
      drawField(cover, model, row, into: &grid)
    }
    center(model.message, row + 2, [], into: &grid)
    drawWays(cover, model, into: &grid)
  }

  private func drawField(
    _ cover: Cover, _ model: borrowing Model, _ row: Int, into grid: inout Grid
  ) {
    switch model.field {
    case .some(let field):
      let width = grid.glyph.width(field.label) + 2 + 16
      let column = max((grid.columns - width) / 2, 0)
      draw(field, row, max(column + cover.offset(now: now), 0), into: &grid)
    case .none: break
    }
  }

  private func drawWays(_ cover: Cover, _ model: borrowing Model, into grid: inout Grid) {
    var keys = [("Enter", cover.isLocked ? "unlock" : "uncover")]
    if let way = model.nextWay { keys.append(("Tab", way.label)) }
    keys.append(("Ctrl-C", "quit"))
    drawKeys(keys, into: &grid)
  }

  private func waiting(_ cover: Cover, _ model: borrowing Model) -> String? {
    guard cover.waitUntil > now, model.askedFor == .passcode else { return nil }
    let seconds = (cover.waitUntil - now + 999) / 1_000
    return seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
  }

  private func state(_ cover: Cover) -> String {
    guard cover.isLocked else {
      return "covered; the vault is unlocked" + (cover.takesFinger ? "; a finger does, too" : "")
    }
    return "locked" + (cover.reason.isEmpty ? "" : ": " + cover.reason)
  }

  private func center(_ text: String, _ row: Int, _ style: Style, into grid: inout Grid) {
    let column = max((grid.columns - grid.glyph.width(text)) / 2, 0)
    grid.put(text, row, column, style: style)
  }
}
