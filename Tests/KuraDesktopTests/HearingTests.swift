// SPDX-License-Identifier: MIT

import Testing

@testable import KuraDesktop

private let manager = "org.freedesktop.login1.Manager"
private let session = "org.freedesktop.login1.Session"
private let properties = "org.freedesktop.DBus.Properties"
private let own = "/org/freedesktop/login1/session/c1"

/// The system bus, with a login manager that the bus calls `:1.5`.
private func systemHearing() -> Hearing {
  var hearing = Hearing(names: [Hearing.loginManager])
  hearing.note(owner: ":1.5", of: Hearing.loginManager)
  hearing.session = own
  return hearing
}

private func signal(
  _ interface: String, _ member: String, _ content: Signal.Content = .nothing, path: String = own,
  from sender: String = ":1.5"
) -> Signal {
  Signal(sender: sender, path: path, interface: interface, member: member, content: content)
}

@Suite struct HearingTests {
  @Test func `sleep, shutdown and their ends are understood`() {
    let hearing = systemHearing()
    let sleep = signal(manager, "PrepareForSleep", .flag(true))
    #expect(hearing.meaning(of: sleep) == .leaving(.suspend))
    #expect(
      hearing.meaning(of: signal(manager, "PrepareForShutdown", .flag(true))) == .leaving(.logout))
    for member in ["PrepareForSleep", "PrepareForShutdown"] {
      #expect(hearing.meaning(of: signal(manager, member, .flag(false))) == .back)
    }
  }

  @Test func `the lock of the own session's screen is heard, by signal and by property`() {
    let hearing = systemHearing()
    let hint = signal(properties, "PropertiesChanged", .lockedHint(true))
    #expect(hearing.meaning(of: hint) == .screenLocked)
    #expect(hearing.meaning(of: signal(session, "Lock")) == .screenLocked)
  }

  @Test func `another session's screen is not`() {
    let hearing = systemHearing()
    let other = "/org/freedesktop/login1/session/c2"
    #expect(hearing.meaning(of: signal(session, "Lock", path: other)) == nil)
    let hint = signal(properties, "PropertiesChanged", .lockedHint(true), path: other)
    #expect(hearing.meaning(of: hint) == nil)
  }

  @Test func `without a session of its own no session's screen is heard`() {
    var hearing = systemHearing()
    hearing.session = nil
    #expect(hearing.meaning(of: signal(session, "Lock")) == nil)
  }

  @Test func `nothing that unlocks is heard`() {
    let hearing = systemHearing()
    #expect(hearing.meaning(of: signal(session, "Unlock")) == nil)
    for hint in [false, nil] {
      let signal = signal(properties, "PropertiesChanged", .lockedHint(hint))
      #expect(hearing.meaning(of: signal) == nil)
    }
  }

  @Test func `sessions that begin and end are told with the path`() {
    let hearing = systemHearing()
    #expect(
      hearing.meaning(of: signal(manager, "SessionNew", .texts(["c1", own]))) == .sessionBegan)
    #expect(
      hearing.meaning(of: signal(manager, "SessionRemoved", .texts(["c1", own])))
        == .sessionEnded(own))
  }

  @Test(arguments: [":1.6", "org.freedesktop.login1", ""])
  func `what another connection says counts for nothing`(_ sender: String) {
    let hearing = systemHearing()
    let all = [
      signal(manager, "PrepareForSleep", .flag(true), from: sender),
      signal(manager, "SessionRemoved", .texts(["c1", own]), from: sender),
      signal(session, "Lock", from: sender),
      signal(properties, "PropertiesChanged", .lockedHint(true), from: sender),
    ]
    for signal in all { #expect(hearing.meaning(of: signal) == nil) }
  }

  @Test func `while nobody owns the name nobody speaks for it`() {
    var hearing = systemHearing()
    hearing.note(owner: nil, of: Hearing.loginManager)
    #expect(hearing.meaning(of: signal(manager, "PrepareForSleep", .flag(true))) == nil)
  }

  @Test func `only the bus says who owns a name`() {
    let hearing = systemHearing()
    let texts = Signal.Content.texts([Hearing.loginManager, ":1.5", ":1.9"])
    let real = signal(Hearing.bus, "NameOwnerChanged", texts, from: Hearing.bus)
    #expect(hearing.meaning(of: real) == .owner(of: Hearing.loginManager, ":1.9"))
    for sender in [":1.5", ":1.9"] {
      let fake = signal(Hearing.bus, "NameOwnerChanged", texts, from: sender)
      #expect(hearing.meaning(of: fake) == nil)
    }
    let gone = Signal.Content.texts([Hearing.loginManager, ":1.5", ""])
    #expect(
      hearing.meaning(of: signal(Hearing.bus, "NameOwnerChanged", gone, from: Hearing.bus))
        == .owner(of: Hearing.loginManager, nil))
    let other = Signal.Content.texts(["org.example.Other", "", ":1.9"])
    #expect(
      hearing.meaning(of: signal(Hearing.bus, "NameOwnerChanged", other, from: Hearing.bus)) == nil)
  }

  @Test(arguments: Hearing.screenSavers)
  func `a screen saver that begins is heard, one that ends is not`(_ name: String) {
    var hearing = Hearing(names: Hearing.screenSavers)
    hearing.note(owner: ":1.7", of: name)
    let on = signal(name, "ActiveChanged", .flag(true), path: "/ScreenSaver", from: ":1.7")
    let off = signal(name, "ActiveChanged", .flag(false), path: "/ScreenSaver", from: ":1.7")
    let fake = signal(name, "ActiveChanged", .flag(true), path: "/ScreenSaver", from: ":1.8")
    #expect(hearing.meaning(of: on) == .screenLocked)
    #expect(hearing.meaning(of: off) == nil)
    #expect(hearing.meaning(of: fake) == nil)
  }

  @Test func `each bus speaks of its own matters only`() {
    var hearing = Hearing(names: Hearing.screenSavers)
    hearing.note(owner: ":1.5", of: Hearing.loginManager)
    #expect(hearing.meaning(of: signal(manager, "PrepareForSleep", .flag(true))) == nil)
  }
}
