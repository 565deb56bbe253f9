// SPDX-License-Identifier: MIT

/// Names what a client asks of the agent; the first byte of a request.
public enum Verb: UInt8, Sendable, CaseIterable {
  case status = 1
  case create = 2
  case unlock = 3
  case lock = 4
  case get = 5
  case getAttribute = 6
  case put = 7
  case list = 8
  case show = 9
  case attributes = 10
  case remove = 11
  case passcode = 12
  case verify = 13
  case config = 14
  case agentStatus = 15
  case agentStop = 16
  case wait = 17
  case slots = 18
  case slotAdd = 19
  case slotRemove = 20
  case slotTest = 21
  case authorize = 24
  case protect = 25
  case unprotect = 26
  case rotate = 28
  case rekey = 29
  case prompt = 32
  case agentFacts = 36
  case otp = 40
  case move = 48
  case history = 49
  case restore = 50
  case purge = 51
  case watch = 54
  case log = 56
  case putBatch = 60
  case compact = 64
}
