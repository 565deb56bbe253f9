// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol
internal import SecureMemory

/// Keeps one client: its socket, what it sent and what it gets, and what it is doing.
final class Connection {
  private let descriptor: Descriptor
  let place: Int
  let tenant: UInt32
  var inbox: Inbox
  var outbox: Outbox

  var phase = Phase.greeting
  /// Its place among those who ask a person to unlock the vault: it may ask how the vault is, and try.
  var prompting: Prompting?
  /// The process that connected, as the kernel tells it.
  var process: Int32 = 0
  /// When it was there: what has its number now and is younger is another one.
  let began = ProcessLink.latestStart
  /// What that process has shown itself by, where the kernel does not tell whether it lives.
  var held: Descriptor?
  /// Whether it may show itself by what it sends next.
  var mayShow = false
  /// In how many namespaces of process ids that is, as the client came; nil where it was not seen.
  var depth: Int?
  /// What it may have, where it comes from a room.
  var room: Room?
  /// Who that is, as far as it was looked up: once, for the first entry of the access log.
  private(set) lazy var peer = Peer(process: process)
  /// What the client asked last.
  var verb = Verb.status
  /// Whose vault the requests are about.
  var vaultPath = ""
  /// Whether the client speaks a version of the protocol that this agent does not.
  var isForeign = false
  /// Its own wrong tries since the last right one, which are no news to it.
  var mistakes: UInt64 = 0
  /// What opens protected values for it, after a fresh passcode.
  var grant: Grant?
  /// Under which grant the request that is just served has read; 0 for none.
  var usedGrant: UInt64 = 0
  /// What it waited for when it was last told what the owner is asked for.
  var lastWatch: WishWatch?
  /// What it masks, where it is told of values.
  var mask: MaskRun?
  /// Whom the request that is just served has told of its values.
  var wait: MaskWait?
  /// Items that it will have stored as a whole, once all of them have come.
  var gathered: GatheredItems?
  /// Has hardware asked for it no longer than it waits.
  var ward = HardwareWard()
  /// What it does in a store for its vault.
  var meeting: StoreMeeting?

  /// Whether the next slice of a stream waits for room in the socket. Where that holds a slice, it is
  /// sent whole or not at all, so that nothing of it is left here when the vault is locked.
  var waitsForRoom = false

  /// Whether a word about a prompt may still come that was sent before the prompt's end.
  var mayCrossEnd = false

  /// Whether what is pending was served before a lock: it may not stay here beyond the turn.
  var mustBeTaken = false

  /// Whether a vault was locked: what it sent before that is served in this turn, or not at all.
  var mustBeServed = false

  /// When the frame that has begun must be whole, on the monotonic clock.
  var frameDeadline: UInt64?
  /// When the client must have taken something of what is pending, on the monotonic clock.
  var stallDeadline: UInt64?
  /// Until when a request is tried again because the vault is busy, or all seats are taken.
  var busyDeadline: UInt64?
  /// Whether it is one of the clients that may have something under way.
  var isSeated = false
  /// Whether its request waits for that.
  var waitsForSeat = false
  /// When it was last heard with a whole request, or came, counted by all that were heard.
  var lastHeard: UInt64 = 0
  /// Whether whole frames wait for the next turn; nothing is read meanwhile.
  var isUnfinished = false
  /// What its socket is watched for.
  var interest = Readiness.readable
  /// Whether it ended: nothing is served or sent any more.
  var isClosed = false

  init(
    _ descriptor: consuming Descriptor, place: Int, tenant: UInt32
  ) throws(AgentError) {
    do throws(SecureMemoryError) {
      inbox = try Inbox()
      outbox = try Outbox(of: descriptor.raw)
    } catch { throw .outOfMemory }
    self.descriptor = descriptor
    self.place = place
    self.tenant = tenant
  }

  var raw: Int32 { descriptor.raw }

  /// How the loop knows it.
  var source: EventSource { .connection(place: place, tenant: tenant) }

  /// Whether frames are read at the moment.
  var isReading: Bool { phase.isReading && busyDeadline == nil }

  /// Whether nothing was heard of it but what may be its hello.
  var isGreeting: Bool { if case .greeting = phase { true } else { false } }

  /// Whether it ends once what is pending is sent.
  var isClosing: Bool { if case .closing = phase { true } else { false } }

  /// Whether it has nothing under way.
  var isIdle: Bool {
    phase.isIdle && prompting == nil && busyDeadline == nil && !isUnfinished && !hasPending
  }

  /// Whether bytes wait to be sent.
  var hasPending: Bool { outbox.hasPending }

  /// Whether a frame has begun and is not whole.
  var isWithinFrame: Bool { !inbox.isEmpty }

  /// Makes room in the socket for the slices of a long value.
  func widen() { kura_socket_widen(raw) }

  /// Whether a whole slice of a stream fits into the socket.
  var hasRoom: Bool { kura_server_has_room(raw) == 1 }

  /// Whether the client has closed its end, so that nobody can be told what became of a request.
  var hasHungUp: Bool { kura_server_has_hung_up(raw) == 1 }
}
