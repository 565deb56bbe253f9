// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraStore
internal import KuraTerms

/// Keeps the files where a program of ours reaches, that speaks to a store and has libraries which kura-sync does without.
final class ProgramStore: Store {
  private let child: kura_child
  private let pipe: StorePipe
  private let address: String
  private(set) var tellsAll = false

  /// Starts a program that has the store of a vault open then.
  ///
  /// - Parameters:
  ///   - program: Its name; it stands where kura-sync does, or is installed.
  ///   - package: The package that has it.
  convenience init(
    by program: String, from package: String, at address: String, of vault: [UInt8],
    makes: Bool
  ) throws(StoreError) {
    guard let path = System.companion(program) else {
      throw .noProgram(name: program, package: package)
    }
    guard let child = System.startAnswering(path, [program]) else {
      throw .noProgram(name: program, package: package)
    }
    try self.init(by: child, at: address, of: vault, makes: makes)
  }

  /// - Parameter patience: How many seconds it may take for an answer.
  init(
    by child: kura_child, at address: String, of vault: [UInt8], makes: Bool, patience: Int = 600
  ) throws(StoreError) {
    (self.child, self.address) = (child, address)
    pipe = StorePipe(from: child.descriptor, to: child.descriptor, patience: patience)
    try done(.open(remote: address, vault: vault, makes: makes))
  }

  deinit {
    kura_socket_close(child.descriptor)
    if child.process > 0 { kura_end_asked(child.process) }
  }

  func heads() throws(StoreError) -> [StorePlace] { try places(.heads) }

  func objects(of device: [UInt8]) throws(StoreError) -> [StorePlace] {
    try places(.objects(device: device))
  }

  func get(_ place: StorePlace, atMost most: Int) throws(StoreError) -> [UInt8]? {
    switch try ask(.get(place, most: most)) {
    case .bytes(let bytes): return bytes.count <= most ? bytes : nil
    case .nothing: return nil
    case .done, .places, .failed, .news: throw gone
    }
  }

  func put(_ place: StorePlace, _ bytes: [UInt8]) throws(StoreError) {
    try done(.put(place, bytes))
  }

  func delete(_ place: StorePlace) throws(StoreError) -> Bool {
    switch try ask(.delete(place)) {
    case .done: return true
    case .nothing: return false
    case .places, .bytes, .failed, .news: throw gone
    }
  }

  func settle() throws(StoreError) { try done(.settle) }

  func leave() { try? done(.leave) }

  func vaults() throws(StoreError) -> [[UInt8]] {
    guard case .bytes(let bytes) = try ask(.vaults) else { throw gone }
    let count = StorePlace.identifierByteCount
    return stride(from: 0, through: bytes.count - count, by: count).map {
      Array(bytes[$0..<($0 + count)])
    }
  }

  func marks(but own: [UInt8]) throws(StoreError) -> [UInt8] {
    guard case .bytes(let bytes) = try ask(.marks(but: own)) else { throw gone }
    return bytes
  }

  func watch() throws(StoreError) { tellsAll = try ask(.watch) == .done }

  var bell: Int32 { tellsAll ? child.descriptor : -1 }

  func answerBell() throws(StoreError) -> Bool {
    guard pipe.receive()?.reply == .news else { throw gone }
    return true
  }

  // MARK: - Asking

  private var gone: StoreError {
    .unreachable(path: address, said: "the program that speaks to it has ended, or hangs")
  }

  private func places(_ wish: StoreWish) throws(StoreError) -> [StorePlace] {
    guard case .places(let places) = try ask(wish) else { throw gone }
    return places
  }

  private func done(_ wish: StoreWish) throws(StoreError) {
    guard try ask(wish) == .done else { throw gone }
  }

  private func ask(_ wish: StoreWish) throws(StoreError) -> StoreReply {
    guard pipe.send(StoreFrame(wish)) else { throw gone }
    while let reply = pipe.receive()?.reply {
      switch reply {
      case .news: continue
      case .failed(let error): throw error
      case .done, .places, .bytes, .nothing: return reply
      }
    }
    throw gone
  }
}
