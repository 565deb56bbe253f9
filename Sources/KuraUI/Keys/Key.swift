// SPDX-License-Identifier: MIT

/// Names what a person did at the keyboard or with the mouse.
enum Key: Equatable, Sendable {
  /// A character.
  case character(Unicode.Scalar)
  /// A letter together with Ctrl, as a capital.
  case control(Unicode.Scalar)
  case enter, escape, backspace, tab
  case up, down, left, right, pageUp, pageDown, home, end, delete
  /// A click on a cell, counted from 0.
  case click(row: Int, column: Int)
  case wheelUp, wheelDown
}
