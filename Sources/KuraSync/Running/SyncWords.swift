// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraTerms

/// Words what came of a meeting, for people; nothing in it is secret.
enum SyncWords {
  /// A text of the vault or the system that no terminal obeys.
  static func harmless(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
        shown.append("\u{FFFD}")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// What is said where there was nothing to do.
  static let nothing = "nothing came, and nothing went out"
  /// What is said where others hear of a key, a setting or a way to open the vault, or get what was sealed anew.
  static let noItem = "nothing came, and what went out changes no item"

  /// Lines of what came and went.
  static func lines(_ report: SyncReply) -> [String] {
    let came = report.came
    let counts: [(UInt64, String, String)] = [
      (came.added, "item came", "items came"),
      (came.changed, "item has something new", "items have something new"),
      (
        came.purged, "item was purged elsewhere, and goes", "items were purged elsewhere, and go"
      ),
      (came.renamed, "item gets another name", "items get another name"),
      (came.settings, "setting becomes stricter", "settings become stricter"),
      (
        came.looserSettings,
        "setting was made looser elsewhere, and is so here once you unlock by passcode or recovery key",
        "settings were made looser elsewhere, and are so here once you unlock by passcode or recovery key"
      ),
      (came.slots, "way to open the vault changes", "ways to open the vault change"),
      (
        came.waitingSlots,
        "way to open the vault finds no room here: 'kura slot list' shows those there are",
        "ways to open the vault find no room here: 'kura slot list' shows those there are"
      ),
      (report.sent, "item went out", "items went out"),
    ]
    var lines = counts.filter { $0.0 > 0 }.map { count, one, more in
      "\(count) " + (count == 1 ? one : more)
    }
    if came.keptSlots {
      lines.append(
        "each passcode and recovery key was ended on some machine, and all of them stand: "
          + "'kura slot list' shows them")
    }
    if came.conflicting > 0 {
      let items = came.conflicting == 1 ? "1 item was" : "\(came.conflicting) items were"
      lines.append(
        items + " changed on several machines; all contents are kept: see 'kura conflicts'")
    }
    if lines.isEmpty, report.waiting == 0 { lines.append(report.objects == 0 ? nothing : noItem) }
    if report.waiting > 0 {
      let changes = report.waiting == 1 ? "1 change" : "\(report.waiting) changes"
      lines.append(changes + " of this machine did not go out yet")
    }
    return lines
  }

  /// What a machine that has joined is to compare with another one.
  ///
  /// - Parameter newest: When an item was changed last, in ms of Unix time; 0 for never.
  static func joined(_ status: SyncStatusReply, newest: UInt64, now: UInt64) -> [String] {
    var lines = [
      "the vault is here, in epoch " + StorePlace.hexadecimal(status.epoch)
        + (newest == 0
          ? "; no item is here yet" : "; its newest change was made " + since(newest, now))
    ]
    for device in status.devices where !device.isThis {
      let name = name(of: device, among: status.devices)
      let times = device.number == 1 ? "1 time" : "\(device.number) times"
      let wrote = device.number == 0 ? "nothing that is here yet" : times
      lines.append(name + " wrote " + wrote + (device.isRemoved ? ", and was removed" : ""))
    }
    lines.append(
      "what the store holds back cannot be told from here: 'kura sync status' says \""
        + HeadWords.text(status.otherHeads)
        + "\" on a machine that has met it before this one, and knows no more; once others have met it "
        + "since, run 'kura sync' here and there until nothing comes, then compare 'kura sync status'"
    )
    return lines
  }

  /// Whom it waits for that nothing is left in the store that no vault has.
  static func compacted(_ status: SyncStatusReply, now: UInt64) -> [String] {
    let awaited = status.devices.filter(\.isAwaited)
    guard !awaited.isEmpty else {
      return ["nothing that the machines of now wrote is left in the store that no vault has"]
    }
    let others = awaited.filter { !$0.isThis }
    guard !others.isEmpty else { return ["this is not done yet: run 'kura sync' here once more"] }
    return others.map { device in
      let name = name(of: device, among: status.devices)
      return "this waits for \(name), last heard " + since(device.heard, now)
        + ": run 'kura sync' there and here until it is named no more, or, if it is lost, "
        + "'kura sync devices --remove NAME'"
    }
  }

  /// What was noticed, in a line.
  ///
  /// - Parameter now: By the clock of this machine, in ms of Unix time.
  static func line(_ news: SyncNews, now: UInt64) -> String {
    line(news, of: label(of: news), now: now)
  }

  private static func line(_ news: SyncNews, of name: String, now: UInt64) -> String {
    switch news.notice {
    case .late:
      return "not all of \(name) is here yet; it was last heard " + since(news.heard, now)
    case .cut:
      return
        "not all of a file of \(name) is here yet; where it stays so and nothing is carried any "
        + "more, 'kura sync compact' there writes all of its files anew"
    case .back:
      return "the store has an older state of \(name) than was here before, which is not taken; "
        + "somebody changed the store, or a backup of it was restored"
    case .twin:
      return "two machines have the id of \(name), as after a copied disk or a restored backup; "
        + "the one of them that finds out goes on under another id with the next 'kura sync', and "
        + "nothing of either is lost"
    case .changed:
      return "a file of \(name) is not what it wrote, and nothing of it is taken; "
        + "run 'kura sync compact' there, which writes all of its files anew"
    case .forged:
      return "a file that \(name) did not seal or sign stands in its place, and nothing of it is "
        + "taken; look who can write to the store"
    case .swapped:
      return "what stands in the place of \(name) is another machine's, and is not taken; "
        + "look who can write to the store"
    case .otherVault:
      return "what stands in the place of \(name) is of another vault, and is not taken"
    case .otherKey:
      return "\(name) has another key than it had: another machine plays it, and nothing of it is "
        + "taken"
    case .falseEpoch:
      return "a vault key from \(name) does not follow from the one before, and is not taken; "
        + "look who can write to the store"
    case .ownHeadBack:
      return "the store has an older state of this machine, which is written again; "
        + "somebody changed the store, or a backup of it was restored"
    case .ownHeadGone:
      return "what this machine wrote is gone from the store, and is written again"
    case .ownFilesGone:
      return
        "files that this machine wrote are gone from the store, or were not what it wrote, and are written again"
    case .passcodeWanted:
      return "\(name) has the vault under another key, and nothing goes out under the one before; "
        + "'kura sync enter' asks for what opens it there"
    case .twoOwners:
      return
        "\(name) has the vault under a key that a machine gave it which was taken out; 'kura sync enter' "
        + "brings both together, unless each of two machines took the other out"
    case .removedOwner:
      return
        "\(name) was taken out, and has given the vault a key of its own as well, so that nothing comes "
        + "from there; where this machine is to go on, 'kura lock' there and move the vault's file away, then "
        + "'kura sync compact' here takes away what it left, as far as the store lets it, and 'kura sync join' "
        + "there begins anew"
    case .stranger:
      return
        "\(name) is not known here, and says to have the vault under another key; where that stays so once all "
        + "others have met the store, 'kura lock' there, move the vault's file away, and delete what is named by "
        + "its id among the heads in the store, so that 'kura sync join' there begins anew; where no machine "
        + "of yours has that id, somebody made it up"
    case .differs:
      return
        "\(name) and this machine have taken the same, and do not have the same: run 'kura verify' on "
        + "both, and bring the file of the one into the other by 'kura merge'"
    case .newer:
      return
        "what stands in the place of \(name) says that a later release of kura wrote it, and is "
        + "not taken: use that release here, too; if nobody has one, look who can write to the store"
    case .passcodesLeft:
      return
        "\(name) has passcodes of the vault in the store, which this machine shares it without, and nothing of "
        + "them is taken; 'kura sync' there, which comes over; 'kura rekey' gives the vault another key, "
        + "if somebody may have kept what was there"
    case .leftOut:
      return "what \(name) changed after it was taken out is left out here"
    }
  }

  /// How a command ends that has noticed this.
  static func status(_ news: [SyncNews]) -> ExitStatus {
    let alarms = news.filter { $0.notice.isAlarm }
    guard !alarms.isEmpty else { return .ok }
    let isQuestion = alarms.allSatisfy { $0.notice.wantsOwner }
    return isQuestion ? .needsInteraction : .integrity
  }

  /// The same of one of several: how its id begins follows where others are called so, too.
  private static func name(of device: SyncDevice, among all: [SyncDevice]) -> String {
    let name = label(of: SyncNews(.late, of: device.device, label: device.label))
    guard device.isNamesake(among: all) else { return name }
    return name + " (" + StorePlace.hexadecimal(Array(device.device.prefix(4))) + ")"
  }

  /// What people call a device, else how its id begins.
  private static func label(of news: SyncNews) -> String {
    let label = harmless(String(decoding: news.label, as: UTF8.self))
    if !label.isEmpty { return label }
    guard !news.device.isEmpty else { return "another machine" }
    return "the machine " + StorePlace.hexadecimal(Array(news.device.prefix(4)))
  }

  private static func since(_ then: UInt64, _ now: UInt64) -> String {
    guard then > 0 else { return "never" }
    let minutes = (max(now, then) - then) / 60_000
    let (count, unit) =
      minutes < 120
      ? (minutes, "minute")
      : minutes < 2 * 1_440 ? (minutes / 60, "hour") : (minutes / 1_440, "day")
    return count == 0 ? "a moment ago" : "\(count) " + unit + (count == 1 ? " ago" : "s ago")
  }
}

extension SyncReply {
  /// The same without what stands in another report already, as far as it goes on.
  func besides(_ last: SyncReply) -> SyncReply {
    var fresh = self
    if waiting == last.waiting { fresh.waiting = 0 }
    fresh.news = news.filter { next in
      !last.news.contains { $0.notice == next.notice && $0.device == next.device }
    }
    return fresh
  }
}
