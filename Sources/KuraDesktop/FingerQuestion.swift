// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraHardware
internal import KuraProtocol
internal import KuraTerms

/// Asks for a finger on behalf of the agent, which has started this program for that.
enum FingerQuestion {
  /// How long one is waited for, in ms.
  private static let patience: UInt64 = 30_000

  /// Does it, and tells the agent by a socket, until it hangs up.
  static func answer(to agent: Int32) -> ExitStatus {
    var (kind, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
    guard unsafe getsockopt(agent, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 else {
      Report.say("only kura-agent can ask for a finger, by a socket of its own")
      return .usage
    }
    let answer: FingerAnswer?
    do throws(FingerFault) { answer = try ask(agent) } catch { answer = .fault(error) }
    if let answer { say(answer, agent) }
    return .ok
  }

  private static func say(_ answer: FingerAnswer, _ agent: Int32) {
    var byte = answer.byte
    _ = unsafe send(agent, &byte, 1, Int32(MSG_NOSIGNAL))
  }

  /// - Returns: Nil where the agent does not want to know any more.
  private static func ask(_ agent: Int32) throws(FingerFault) -> FingerAnswer? {
    let reader = try FingerReader()
    do throws(FingerFault) { try reader.begin() } catch {
      reader.end()
      throw error
    }
    say(.ready, agent)
    let answer = hear(reader, agent)
    let isThere = reader.end()
    return answer == .lockedOut && !isThere ? .fault(.unplugged) : answer
  }

  private static func hear(_ reader: FingerReader, _ agent: Int32) -> FingerAnswer? {
    let end = Waiting.now + patience
    while true {
      if let answer = reader.answer() { return answer }
      let now = Waiting.now
      guard now < end else { return .fault(.timedOut) }
      if let due = reader.bus.deadline, due <= now { continue }
      let wanted = reader.bus.wantsToSend ? POLLIN | POLLOUT : POLLIN
      var events = [
        pollfd(fd: reader.bus.descriptor, events: Int16(wanted), revents: 0),
        // It says nothing: what comes is its end.
        pollfd(fd: agent, events: Int16(POLLIN), revents: 0),
      ]
      let left = min(end, reader.bus.deadline ?? end) - now
      _ = unsafe poll(&events, 2, Int32(left))
      if events[1].revents != 0 { return nil }
    }
  }
}
