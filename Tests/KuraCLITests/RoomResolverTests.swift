// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

/// Whom a room asks for names.
@Suite struct RoomResolverTests {
  @Test(arguments: [
    ("nameserver 192.0.2.7\n", "nameserver 192.0.2.7\n"),
    ("# a list\nsearch a b\n\tnameserver\t 2001:db8::7", "search a b\nnameserver 2001:db8::7\n"),
    (
      "nameserver 127.0.0.53\nnameserver 192.0.2.7\noptions edns0\n",
      "nameserver 192.0.2.7\noptions edns0\n"
    ),
    ("nameserver 127.0.0.53\nsearch a\n", nil), ("nameserver ::1\n", nil),
    ("nameserver 0.0.0.0\n", nil),
    ("nameserver fe80::1%eth0\n", nil), ("nameserver ::ffff:127.0.0.1\n", nil),
    ("nameserver\n", nil), ("", nil),
    ("sortlist 192.0.2.7\n", nil),
  ])
  func `it asks those that are elsewhere`(_ list: String, _ wanted: String?) {
    let text = RoomResolver.reachable(list.utf8.span)
    #expect(text.map { String(decoding: $0, as: UTF8.self) } == wanted)
  }
}
