// SPDX-License-Identifier: MIT

package import CKuraSystem

// A command whose output comes to us.

extension System {
  /// Goes on in a second process, where `reader` is 0; both have an end of the channel.
  package static func partRelay() -> (reader: Int32, channel: Int32) {
    var channel: Int32 = -1
    let reader = unsafe kura_relay_part(&channel)
    return (reader, channel)
  }

  /// Makes the process that becomes the command; 0 in there.
  package static func startRelay(
    _ relay: inout kura_relay, starter: Int32, isRoom: Bool
  ) -> Int32 { unsafe kura_relay_start(&relay, starter, isRoom ? 1 : 0) }

  /// Says that the command has all its orders.
  package static func endRelayOrders(_ relay: inout kura_relay) {
    unsafe kura_relay_ordered(&relay)
  }

  /// Waits for what the command writes or does.
  package static func awaitRelay(_ relay: inout kura_relay, patience: Int32) -> Int32 {
    unsafe kura_relay_await(&relay, patience)
  }

  /// Writes to a stream of ours: how much, or a negated errno.
  package static func writeRelay(
    _ relay: inout kura_relay, _ number: Int32, _ bytes: Span<UInt8>
  ) -> Int {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      return unsafe kura_relay_write(&relay, number, start, bytes.count)
    }
  }

  /// Takes nothing more from a stream of the command's.
  package static func closeRelay(_ relay: inout kura_relay, _ number: Int32) {
    unsafe kura_relay_close(&relay, number)
  }

  /// Stops as the command did.
  package static func stopRelay(_ relay: inout kura_relay) { unsafe kura_relay_stop(&relay) }

  /// Gives the terminal back where the command has ended.
  package static func leaveRelay(_ relay: inout kura_relay) { unsafe kura_relay_leave(&relay) }

  /// Tells how the command ended.
  package static func tellRelay(_ relay: inout kura_relay) { unsafe kura_relay_tell(&relay) }

  /// Gives the terminal back.
  package static func endRelay(_ relay: inout kura_relay) { unsafe kura_relay_end(&relay) }
}
