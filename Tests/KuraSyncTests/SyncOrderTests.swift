// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KuraClient
import KuraProtocol
import KuraStore
import KuraTerms
import Testing

@testable import KuraSync

@Suite struct `What kura-sync is asked for` {
  @Test func `an order has what the command line says`() throws {
    #expect(try SyncOrder([]).wanted == .meet)
    let order = try SyncOrder([
      "-q", "--vault", "work", "--label", "desk", "--weak", "init", "dir:x",
    ])
    #expect(order.wanted == .begin(remote: "dir:x"))
    #expect(order.vault == "work" && order.label == "desk" && order.isWeakMeant && order.isQuiet)
    #expect(try SyncOrder(["--", "look", "dir:x"]).wanted == .look(remote: "dir:x"))
    #expect(try SyncOrder(["--", "joined"]).wanted == .joined)
    #expect(try SyncOrder(["--", "pull"]).wanted == .pull)
    #expect(try SyncOrder(["--", "compact"]).wanted == .compact)
    #expect(try SyncOrder(["--", "init", "--weak"]).wanted == .begin(remote: "--weak"))
    let id = StorePlace.hexadecimal(Sample.vault)
    #expect(try SyncOrder(["reach", id]).wanted == .reach(vault: Sample.vault))
    #expect(throws: SyncOrder.Flaw.self) { try SyncOrder(["reach", "x"]) }
    let watch = try SyncOrder(["--watch"])
    #expect(watch.wanted == .meet && watch.isWatch)
    #expect(throws: SyncOrder.Flaw.self) { try SyncOrder(["--watch", "init", "dir:x"]) }
    #expect(try SyncOrder(["sql"]).wanted == .sql(role: nil))
    #expect(try SyncOrder(["sql", "--role", "desk"]).wanted == .sql(role: "desk"))
    #expect(try SyncOrder(["--version"]).wanted == .version)
    #expect(try SyncOrder(["-h"]).wanted == .help)
    let wrong = [
      ["init"], ["init", "dir:x", "y"], ["watch"], ["look"], ["joined", "x"], ["pull", "x"],
      ["compact", "x"],
      ["--frobnicate"],
      ["--label"], ["--vault"],
      ["--label", "desk"], ["--weak"], ["--role", "x"], ["init", "--role", "x", "dir:x"],
      ["sql", "x"],
      ["sql", "--weak"],
    ]
    for words in wrong {
      #expect(throws: SyncOrder.Flaw.self, "\(words)") { try SyncOrder(words) }
    }
  }

  @Test func `a store is a folder, by an absolute path, or what rclone knows`() throws {
    #expect(try Remote("dir:/a/b/").text == "dir:/a/b")
    let here = FileManager.default.currentDirectoryPath
    #expect(try Remote("dir:a").kind == .folder(here + "/a"))
    if let home = Environment.value("HOME") {
      #expect(try Remote("dir:~/a").kind == .folder(try VaultPath(at: home + "/a").path))
    }
    #expect(try Remote("rclone:cloud:a/b//").text == "rclone:cloud:a/b")
    #expect(try Remote("rclone:cloud:").kind == .rclone("cloud:"))
    #expect(try Remote("rclone::local:/").kind == .rclone(":local:/"))
    let address = "postgres://desk@db.example.org:5432/kura?sslmode=verify-full"
    #expect(try Remote(address).kind == .postgres(address))
    #expect(try Remote("postgresql:///kura?host=/run").text == "postgresql:///kura?host=/run")
    for text in [
      "", "/a/b", "postgres://", "postgres:x", "postgres://x\n", "dir:", "dir:a\nb", "DIR:/a",
      "rclone:", "rclone:cloud", "rclone::local",
      "rclone:--config=x:y", "rclone:a:\u{1B}",
    ] {
      let failure = #expect(throws: SyncFailure.self, "\(text)") { try Remote(text) }
      #expect(failure?.status == .usage)
    }
  }

  @Test func `an address has no password, and none is shown`() throws {
    for text in [
      "postgres://a:herons@c/d", "postgres://a@b:herons@d/e", "postgresql://c/d?password=herons",
      "postgres://c?sslpassword=herons", "postgres://desk:her?ons@db/kura",
      "postgres://desk:a/herons@host/db", "postgres://c/d?%70assword=herons",
      "postgres://c/d?x=y&pass%77ord=herons", "postgres://c/d?oauth_client_secret=herons",
      "postgres://?PASSWORD=herons", "postgres://desk:\u{301}herons@db/kura",
      "postgres://a:herons\n@c/d",
      "rclone::s3,access_key_id=a,secret_access_key=herons:bucket", "rclone:box,pass=herons:kura",
      "rclone:box,pass=\u{301}herons:kura",
      "rclone:box,x='a:b',token=herons:kura", "rclone::http,url='https://a:herons@b':",
      "rclone::alias,remote=':sftp,pass=herons,host=b:c':", "rclone::webdav,bearer_token=herons:",
    ] {
      let failure = #expect(throws: SyncFailure.self, "\(text)") { try Remote(text) }
      #expect(failure?.status == .usage && failure?.text.hasPrefix("a password or a key") == true)
      #expect(failure?.hint?.contains("herons") == false)
    }
    for text in [
      "POSTGRES://a:herons@c/d", "ftp://a:herons@c", "postgres:a:herons@c", "a:herons",
    ] {
      let failure = #expect(throws: SyncFailure.self) { try Remote(text) }
      #expect(failure?.text == "there is no store " + text.prefix { $0 != ":" } + ":")
    }
    for text in [
      "postgres://desk@a:5432,b:5433/kura", "postgres://desk@[::1]:5432/kura?require_auth=password",
      "postgres:///kura?host=/run&passfile=/x&sslkey=/y", "postgres://db?sslmode=require",
      "rclone::s3,env_auth,region=x:bucket", "rclone::sftp,host=b,key_file=/k:c",
      "rclone:box:pass=x,key=y", "rclone:box:a@b",
    ] {
      #expect(try Remote(text).text == text)
    }
  }

  @Test func `each failure of a store tells what to do`() {
    let failures: [StoreError] = [
      .missing(path: "/x"), .notAFolder(path: "/x"), .empty(path: "/x"), .readOnly(path: "/x"),
      .full(path: "/x"), .denied(path: "/x"), .crowded(path: "/x"), .system(errno: EIO, path: "/x"),
      .noProgram(name: "/x", package: "x"), .unknown(path: "/x"),
      .unprepared(path: "/x"), .unreachable(path: "/x", said: "y"), .refused(path: "/x", said: "y"),
      .untrusted(path: "/x", said: "y"), .other(path: "/x", said: "y"),
    ]
    for error in failures {
      let failure = SyncFailure(error, at: "dir:/x")
      #expect(failure.status == .inputOutput && failure.text.contains("/x"))
      #expect(failure.hint != nil)
    }
    #expect(Set(failures.map { SyncFailure($0, at: "dir:/x").text }).count == failures.count)
  }

  @Test func `a locked vault and an agent that has none are one thing`() {
    #expect(SyncFailure(.noAgent) == .locked)
    #expect(SyncFailure(.refused(.locked(LockNote(.idle, since: 2, idleTimeout: 3)))) == .locked)
    #expect(SyncFailure.locked.status == .locked)
    #expect(SyncFailure(.refused(.busy)).status == .busy)
    #expect(SyncFailure(.refused(.unsupported(.none))).text == "the vault is not shared")
  }

  @Test func `what came and went is counted`() {
    var report = SyncReply()
    #expect(SyncWords.lines(report) == ["nothing came, and nothing went out"])
    report.objects = 1
    #expect(SyncWords.lines(report) == ["nothing came, and what went out changes no item"])
    (report.came.added, report.came.conflicting, report.sent) = (1, 2, 3)
    #expect(
      SyncWords.lines(report) == [
        "1 item came", "3 items went out",
        "2 items were changed on several machines; all contents are kept: see 'kura conflicts'",
      ])
    report = SyncReply()
    report.waiting = 1
    #expect(SyncWords.lines(report) == ["1 change of this machine did not go out yet"])
  }

  @Test func `who has joined is told what to compare`() {
    var status = SyncStatusReply()
    status.epoch = [7, 8]
    status.otherHeads = [127, 0, 0, 1, 63, 84, 220, 193, 0, 0]
    var (desk, own) = (SyncDevice(), SyncDevice())
    (desk.label, desk.number, own.isThis) = (Array("desk".utf8), 3, true)
    status.devices = [desk, own]
    let lines = SyncWords.joined(status, newest: 60_000, now: 360_000)
    #expect(lines.count == 3 && lines[1] == "desk wrote 3 times")
    #expect(lines[0].contains("epoch 0708;") && lines[0].hasSuffix("5 minutes ago"))
    // The words for addresses that stand in the proposal.
    #expect(lines[2].contains("says \"lusab babad gutih tugad babab\" on"))
  }

  @Test func `whom a store waits for is named, and that it waits for nobody`() {
    var (desk, own) = (SyncDevice(), SyncDevice())
    (desk.label, own.isThis, own.isAwaited) = (Array("desk".utf8), true, true)
    var status = SyncStatusReply()
    status.devices = [desk, own]
    #expect(
      SyncWords.compacted(status, now: 0)
        == ["this is not done yet: run 'kura sync' here once more"])
    own.isAwaited = false
    status.devices = [desk, own]
    #expect(
      SyncWords.compacted(status, now: 0)
        == ["nothing that the machines of now wrote is left in the store that no vault has"])
    own.isAwaited = true
    (desk.isAwaited, desk.heard) = (true, 60_000)
    status.devices = [desk, own]
    let lines = SyncWords.compacted(status, now: 360_000)
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("this waits for desk, last heard 5 minutes ago: run") == true)
    (own.label, desk.device) = (desk.label, Sample.device)
    status.devices = [desk, own]
    #expect(SyncWords.compacted(status, now: 0)[0].hasPrefix("this waits for desk (2a2a2a2a), "))
  }

  @Test func `each notice has words of its own, and five are no alarms`() {
    let now: UInt64 = 1_700_000_000_000
    let lines = SyncNotice.allCases.map { notice in
      SyncWords.line(
        SyncNews(notice, of: Sample.device, label: Array("desk".utf8), heard: now - 60_000),
        now: now)
    }
    #expect(Set(lines).count == SyncNotice.allCases.count)
    let calm = SyncNotice.allCases.filter { !$0.isAlarm }
    #expect(calm == [.late, .leftOut, .cut, .ownFilesGone, .stranger])
    #expect(lines[0] == "not all of desk is here yet; it was last heard 1 minute ago")
    let late = SyncNews(.late, of: Sample.device, heard: now - 3 * 86_400_000)
    #expect(SyncWords.line(late, now: now).contains("the machine 2a2a2a2a"))
    #expect(SyncWords.line(late, now: now).hasSuffix("3 days ago"))
    #expect(SyncWords.line(SyncNews(.late, of: []), now: now).hasSuffix("last heard never"))
    #expect(
      !SyncWords.line(SyncNews(.back, of: [], label: [0x1B, 0x61]), now: 0).contains("\u{1B}"))
  }

  @Test func `an alarm is heard in the exit status`() {
    func status(_ notices: SyncNotice...) -> KuraProtocol.ExitStatus {
      SyncWords.status(notices.map { SyncNews($0, of: []) })
    }
    #expect(status() == .ok && status(.late) == .ok)
    #expect(
      status(.late, .passcodeWanted) == .needsInteraction && status(.twoOwners) == .needsInteraction
    )
    #expect(status(.removedOwner, .stranger) == .needsInteraction)
    #expect(status(.passcodeWanted, .forged) == .integrity)
    for notice in SyncNotice.allCases where notice.isAlarm { #expect(status(notice) != .ok) }
  }

  @Test func `this machine notes a store for itself alone`() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      setenv("XDG_STATE_HOME", folder.path + "/state", 1)
      #expect(try Remote.noted(for: Sample.vault) == nil)
      let remote = try Remote("dir:" + folder.path)
      try remote.note(for: Sample.vault)
      #expect(try Remote.noted(for: Sample.vault) == remote)
      try remote.note(
        for: Sample.vault, met: 1_700_000_000_000,
        [SyncNews(.late, of: Sample.device), SyncNews(.passcodeWanted, of: [])])
      let note = try StoreNote.read(for: Sample.vault)
      #expect(note?.remote == remote.text && note?.met == 1_700_000_000_000)
      #expect(
        note?.notices == [.init(.late, of: Sample.device), .init(.passcodeWanted, of: [])])
      #expect(try Remote.noted(for: Sample.device) == nil)
      let name =
        "state/kura/device/" + StorePlace.hexadecimal(Sample.vault) + ".remote"
      #expect(folder.mode(name) == 0o600 && folder.mode("state/kura/device") == 0o700)
      try Remote("dir:/other").note(for: Sample.vault)
      #expect(try Remote.noted(for: Sample.vault)?.text == "dir:/other")
      // Whoever met the store before does not take it back.
      try remote.renew(for: Sample.vault, met: 1, [])
      #expect(try Remote.noted(for: Sample.vault)?.text == "dir:/other")
      try Remote("dir:/other").renew(for: Sample.vault, met: 2, [])
      #expect(try StoreNote.read(for: Sample.vault)?.met == 2)
    }
  }
}
