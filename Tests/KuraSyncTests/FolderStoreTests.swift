// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KuraStore
import KuraTerms
import TestGround
import Testing

@testable import KuraSync

/// A folder of a test's own, gone at its end.
final class Folder {
  let path: String

  init() throws { path = try Ground.onDisk.directory("sync") }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// All files below, hidden ones, too.
  var files: [String] {
    let found = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return found.filter { !isFolder($0) }.sorted()
  }

  private func isFolder(_ name: String) -> Bool {
    var status = stat()
    return lstat(path + "/" + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    let place = path + "/" + name
    try FileManager.default.createDirectory(
      atPath: (place as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: place))
  }

  func mode(_ name: String) -> mode_t {
    var status = stat()
    return lstat(path + "/" + name, &status) == 0 ? status.st_mode & 0o7777 : 0
  }
}

enum Sample {
  static let vault = [UInt8](repeating: 1, count: 16)
  static let device = [UInt8](repeating: 0x2A, count: 16)
  static let head = StorePlace.head(device: device)
  static let long = [UInt8](repeating: 2, count: 100_000)

  static func object(_ number: UInt8) -> StorePlace {
    .object(device: device, hash: [number] + [UInt8](repeating: 0xBC, count: 31))
  }
}

@Suite struct `A folder as a store` {
  let folder: Folder
  let store: FolderStore

  init() throws {
    folder = try Folder()
    store = try FolderStore(at: folder.path, of: Sample.vault, makes: true)
  }

  private var root: String { StorePlace.root(of: Sample.vault) }

  @Test func `keeps what it is given, under the names of the format`() throws {
    let long = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 >> 10) }
    try store.put(Sample.head, [1, 2, 3])
    try store.put(Sample.object(7), long)
    try store.put(Sample.object(8), [])
    try store.settle()
    #expect(
      folder.files
        == [Sample.head, Sample.object(7), Sample.object(8)].map { root + "/" + $0.text })
    #expect(try store.get(Sample.head, atMost: 3) == [1, 2, 3])
    #expect(try store.get(Sample.object(7), atMost: long.count) == long)
    #expect(try store.get(Sample.object(8), atMost: 0) == [])
    #expect(try store.heads() == [Sample.head])
    let objects = try store.objects(of: Sample.device)
    #expect(objects.count == 2 && objects.contains(Sample.object(7)))
    try store.put(Sample.head, [4])
    #expect(try store.get(Sample.head, atMost: 9) == [4])
    #expect(try store.delete(Sample.object(7)))
    #expect(try store.delete(Sample.object(7)))
    #expect(try store.objects(of: Sample.device) == [Sample.object(8)])
  }

  @Test func `stops at the limit, and tells of what is not there`() throws {
    try store.put(Sample.head, [1, 2, 3])
    #expect(try store.get(Sample.head, atMost: 2) == nil)
    #expect(try store.get(Sample.object(1), atMost: 2) == nil)
    #expect(try store.objects(of: [UInt8](repeating: 9, count: 16)) == [])
  }

  @Test func `reads a file to its end, whatever length it was said to have`() throws {
    // The kernel makes it as it is read, and says that it has no bytes.
    let path = "/proc/version"
    let all = try [UInt8](#require(FileManager.default.contents(atPath: path)))
    #expect(all.count > 20)
    func read(_ most: Int) throws -> [UInt8]? {
      try FolderFile(owning: open(path, O_RDONLY)).read(atMost: most, in: path)
    }
    #expect(try read(4_096) == all && read(all.count) == all)
    #expect(try read(all.count - 1) == nil)
  }

  @Test func `passes over what is not of its kind, and follows no link`() throws {
    let id = StorePlace.hexadecimal(Sample.device)
    let heads = folder.path + "/" + root + "/heads/"
    try store.put(Sample.head, [1])
    try store.put(Sample.object(7), [2])
    try folder.write([9], to: root + "/heads/\(id).sync-conflict-20260101-120000-ABCDEF")
    try folder.write([9], to: root + "/heads/.\(id)")
    try folder.write([9], to: root + "/heads/.syncthing.\(id).tmp")
    try folder.write([9], to: root + "/objects/\(id)/07/short")
    try folder.write([9], to: root + "/objects/\(id)/file")
    try folder.write([9], to: root + "/README")
    try folder.write([9], to: "secret")
    let linked = [UInt8](repeating: 3, count: 16)
    #expect(symlink(folder.path + "/secret", heads + StorePlace.hexadecimal(linked)) == 0)
    let piped = [UInt8](repeating: 4, count: 16)
    #expect(mkfifo(heads + StorePlace.hexadecimal(piped), 0o600) == 0)
    let nested = [UInt8](repeating: 5, count: 16)
    #expect(mkdir(heads + StorePlace.hexadecimal(nested), 0o700) == 0)
    #expect(symlink("..", folder.path + "/" + root + "/objects/\(id)/ab") == 0)
    #expect(try store.heads() == [Sample.head])
    #expect(try store.objects(of: Sample.device) == [Sample.object(7)])
    for device in [linked, piped, nested] {
      #expect(try store.get(.head(device: device), atMost: 9) == nil)
    }
    // A link in the place of a folder leads nowhere.
    let other = [UInt8](repeating: 6, count: 16)
    try store.put(.object(device: other, hash: [7] + [UInt8](repeating: 0, count: 31)), [1])
    let place = folder.path + "/" + root + "/" + StorePlace.objects(of: linked)
    #expect(symlink(StorePlace.hexadecimal(other), place) == 0)
    let through = StorePlace.object(device: linked, hash: [7] + [UInt8](repeating: 0, count: 31))
    #expect(try store.get(through, atMost: 9) == nil)
    #expect(try store.objects(of: linked) == [])
    #expect(throws: StoreError.self) { try store.put(through, [2]) }
    // A link in the place of a file is replaced, and what it led to stays.
    try store.put(.head(device: linked), [5])
    #expect(try store.get(.head(device: linked), atMost: 9) == [5])
    #expect(FileManager.default.contents(atPath: folder.path + "/secret") == Data([9]))
  }

  @Test func `what is made has the permissions of the folder, whatever the umask`() throws {
    for mode in [0o700, 0o750, 0o777] as [mode_t] {
      let folder = try Folder()
      #expect(chmod(folder.path, mode) == 0)
      let store = try FolderStore(at: folder.path, of: Sample.vault, makes: true)
      try store.put(Sample.head, [1])
      #expect(folder.mode(root) == mode)
      #expect(folder.mode(root + "/heads") == mode)
      #expect(folder.mode(root + "/" + Sample.head.text) == mode & 0o666)
    }
    let new = folder.path + "/new"
    _ = try FolderStore(at: new, of: Sample.vault, makes: true)
    #expect(folder.mode("new") == 0o700)
  }

  @Test func `each failure has its name`() throws {
    let vault = Sample.vault
    #expect(throws: StoreError.missing(path: folder.path + "/none")) {
      try FolderStore(at: folder.path + "/none", of: vault, makes: false)
    }
    #expect(throws: StoreError.missing(path: folder.path + "/none/deep")) {
      try FolderStore(at: folder.path + "/none/deep", of: vault, makes: true)
    }
    try folder.write([1], to: "file")
    for makes in [false, true] {
      #expect(throws: StoreError.notAFolder(path: folder.path + "/file")) {
        try FolderStore(at: folder.path + "/file", of: vault, makes: makes)
      }
    }
    // A folder with another vault's things alone, or with nothing, as of a stick that is not there.
    #expect(throws: StoreError.empty(path: folder.path)) {
      try FolderStore(at: folder.path, of: [UInt8](repeating: 2, count: 16), makes: false)
    }
    try FileManager.default.removeItem(atPath: folder.path + "/" + root)
    #expect(throws: StoreError.self) { try store.put(Sample.head, [1]) }
    #expect(try store.heads() == [])
  }

  @Test func `it tells when something comes, and by what heads are told apart`() throws {
    let other = StorePlace.head(device: [UInt8](repeating: 9, count: 16))
    try store.put(Sample.head, [1])
    #expect(store.bell == -1 && !store.tellsAll)
    try store.watch()
    let own = try store.marks(but: Sample.device)
    let all = try store.marks(but: [])
    try store.put(Sample.head, [2])
    #expect(try store.marks(but: Sample.device) == own && store.marks(but: []) != all)
    #expect(isRinging)
    #expect(try store.answerBell())
    #expect(!isRinging)
    try store.put(other, [1])
    #expect(isRinging)
    #expect(try store.marks(but: Sample.device) != own)
  }

  @Test func `a folder that rests is held by nobody, and its bell goes on`() throws {
    try store.put(Sample.head, [1])
    try store.watch()
    #expect(store.rests())
    #expect(held().isEmpty)
    #expect(!isRinging)
    let away = folder.path + "/away"
    try FileManager.default.createDirectory(atPath: away, withIntermediateDirectories: false)
    #expect(!isRinging)
    #expect(rename(store.path, away + "/" + root) == 0)
    #expect(isRinging)
    #expect(throws: StoreError.missing(path: store.path)) { try store.heads() }
    let below = try FolderStore(at: away, of: Sample.vault, makes: false)
    try below.watch()
    #expect(rename(away, folder.path + "/further") == 0)
    #expect(isRinging(below))
  }

  /// What this process holds open below the folder.
  private func held() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
    }.filter { $0.hasPrefix(folder.path) }
  }

  private var isRinging: Bool { isRinging(store) }

  private func isRinging(_ store: FolderStore) -> Bool {
    var bell = pollfd(fd: store.bell, events: Int16(POLLIN), revents: 0)
    return poll(&bell, 1, 0) == 1
  }

  @Test func `what fails leaves what was, and nothing beside it`() throws {
    try store.put(Sample.head, [1])
    for failing in FolderStore.WriteStep.allCases {
      let store = try FolderStore(at: folder.path, of: Sample.vault, makes: false) { step in
        step == failing ? ENOSPC : 0
      }
      #expect(throws: StoreError.full(path: store.path)) { try store.put(Sample.head, [2, 2]) }
      let isThere = failing == .syncFolder
      #expect(try store.get(Sample.head, atMost: 9) == (isThere ? [2, 2] : [1]), "\(failing)")
      #expect(folder.files == [root + "/" + Sample.head.text])
    }
  }

  @Test func `an object has its name once it is on the disk`() throws {
    let places = (1...3).map { Sample.object($0) }
    for place in places { try store.put(place, Sample.long) }
    #expect(folder.files.count == 3 && folder.files.allSatisfy { $0.contains("/.") })
    let other = try FolderStore(at: folder.path, of: Sample.vault, makes: false)
    #expect(try other.objects(of: Sample.device) == [])
    // Another one of the same name takes its place.
    try store.put(places[0], [7])
    try store.put(Sample.head, [1])
    let found = try other.objects(of: Sample.device)
    #expect(found.count == 3 && places.allSatisfy(found.contains))
    #expect(try other.get(places[0], atMost: 9) == [7])
    #expect(folder.files.count == 4 && !folder.files.contains { $0.contains("/.") })
    // Whoever looks for what this one has put finds it.
    try store.put(Sample.object(9), [9])
    #expect(try store.get(Sample.object(9), atMost: 9) == [9])
    try store.put(Sample.object(10), [9])
    #expect(try store.objects(of: Sample.device).count == 5)
    try store.put(Sample.object(11), [9])
    #expect(try store.delete(Sample.object(11)))
    #expect(try store.objects(of: Sample.device).count == 5)
  }

  @Test func `much is on the disk before all of it came`() throws {
    let bytes = [UInt8](repeating: 3, count: 1 << 20)
    for number in 0..<40 as Range<UInt8> { try store.put(Sample.object(number), bytes) }
    #expect(folder.files.count { !$0.contains("/.") } == 32)
    try store.settle()
    #expect(folder.files.count { !$0.contains("/.") } == 40)
  }

  @Test func `what a killed program has left goes a day later, and nobody else's`() throws {
    let long = { (number: Int) in String(repeating: "\(number)", count: 64) }
    let below = root + "/" + Sample.object(1).text.dropLast(64)
    let names = [".\(long(1))", ".\(long(2))", ".syncthing.\(long(3)).tmp", ".\(long(4))x"]
    let left = names.map { below + $0 }
    // What is sealed anew comes to stand elsewhere.
    let apart = root + "/" + Sample.object(2).text.dropLast(64) + names[0]
    for name in left + [apart] { try folder.write([1], to: name) }
    let past = Date(timeIntervalSinceNow: -2 * 86_400)
    for name in [left[0], left[2], left[3], apart] {
      try FileManager.default.setAttributes(
        [.modificationDate: past], ofItemAtPath: folder.path + "/" + name)
    }
    try store.put(Sample.object(1), [1])
    try store.settle()
    let stays = left.dropFirst() + [root + "/" + Sample.object(1).text]
    #expect(folder.files == stays.sorted())
  }

  @Test func `objects that fail have no name, and what comes then is as ever`() throws {
    for failing in [FolderStore.WriteStep.begin, .write, .sync, .rename] {
      var isFailing = true
      let store = try FolderStore(at: folder.path, of: Sample.vault, makes: false) { step in
        isFailing && step == failing ? ENOSPC : 0
      }
      #expect(throws: StoreError.full(path: store.path)) {
        try store.put(Sample.object(1), [1])
        try store.put(Sample.object(2), [2])
        try store.put(Sample.head, [3])
      }
      #expect(folder.files == [], "\(failing)")
      isFailing = false
      try store.settle()
      #expect(folder.files == [])
    }
    do {
      let store = try FolderStore(at: folder.path, of: Sample.vault, makes: false)
      try store.put(Sample.object(1), [1])
      #expect(folder.files.count == 1)
    }
    #expect(folder.files == [])
  }

  @Test func `a full disk is told, and leaves what was`() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let store = try FolderStore(at: folder.path, of: Sample.vault, makes: true)
      try store.put(Sample.head, [1])
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 4_096, rlim_max: 4_096)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let long = [UInt8](repeating: 2, count: 10_000)
      #expect(throws: StoreError.full(path: store.path)) { try store.put(Sample.head, long) }
      #expect(try store.get(Sample.head, atMost: 9) == [1])
      #expect(folder.files.count == 1)
    }
  }

  @Test(arguments: FolderStore.WriteStep.allCases)
  func `a kill leaves the file of before or the new one, whole`(
    _ last: FolderStore.WriteStep
  ) async throws {
    try store.put(Sample.head, [1])
    let number = try #require(FolderStore.WriteStep.allCases.firstIndex(of: last))
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = folder.path as String, number = number as Int] in
      let store = try FolderStore(at: path, of: Sample.vault, makes: false) { step in
        step == FolderStore.WriteStep.allCases[number] ? kill(getpid(), SIGKILL) : 0
      }
      try store.put(Sample.head, Sample.long)
    }
    let found = try store.get(Sample.head, atMost: 100_000)
    #expect(found == (last == .syncFolder ? Sample.long : [1]))
    #expect(try store.heads() == [Sample.head])
    // The next write begins anew, and what the killed one left is gone.
    try store.put(Sample.head, [3])
    #expect(try store.get(Sample.head, atMost: 9) == [3])
    #expect(folder.files == [root + "/" + Sample.head.text])
  }
}
