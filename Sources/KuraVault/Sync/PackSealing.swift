// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import SecureMemory

/// Says of an object of a store who wrote it, in which epoch, and under which name it was found.
public struct ObjectPlace: Sendable {
  /// Who wrote it.
  public let device: DeviceID
  /// The epoch under whose key it is sealed.
  public let epoch: DeviceTable.Epoch

  /// A place.
  public init(device: DeviceID, epoch: DeviceTable.Epoch) {
    self.device = device
    self.epoch = epoch
  }
}

extension UnlockedVault {
  /// The object of a pack, sealed for the devices that have this vault's key.
  ///
  /// - Parameters:
  ///   - pack: What is in it.
  ///   - place: Where it is going to stand.
  /// - Throws: ``VaultError/tooLarge`` for more than a pack may have.
  public func sealed(
    _ pack: consuming PackWriter, at place: ObjectPlace
  ) throws(VaultError) -> [UInt8] {
    let plain: SecretBytes
    do throws(FormatError) { plain = try pack.finish() } catch {
      throw VaultError(error, about: .item)
    }
    let seal = AssociatedData.remote(.pack, vault: id, device: place.device, epoch: place.epoch)
    let body = try seal.sealPadded(plain.bytes, under: keys.remote, .item)
    return try fromFormat(.item, RemoteObject.encode(.pack, in: place.epoch, body: body.span))
  }

  /// A pack as another copy of this vault, which has what is in it.
  ///
  /// - Parameters:
  ///   - object: All bytes that were found.
  ///   - name: The hash under which they were looked for.
  ///   - place: Where they were found.
  ///   - header: The slots whose rows other devices have.
  /// - Throws: ``VaultError/copyDamaged`` for what no device wrote there.
  public func openPack(
    _ object: Span<UInt8>, named name: [UInt8], at place: ObjectPlace, beside header: HeaderObject?
  ) throws(VaultError) -> OtherCopy {
    guard format > .first else { throw .takesNewFormat }
    return OtherCopy(try pack(object, named: name, at: place, beside: header))
  }

  /// The same, before it is a copy.
  func pack(
    _ object: Span<UInt8>, named name: [UInt8], at place: ObjectPlace, beside header: HeaderObject?
  ) throws(VaultError) -> CopyPack {
    do throws(VaultError) {
      let body = try RemoteObject.checked(object, .pack, in: place, named: name)
      let seal = AssociatedData.remote(.pack, vault: id, device: place.device, epoch: place.epoch)
      let plain = try seal.openPadded(body, under: keys.remote, .item)
      return try CopyPack.read(plain.bytes, keys, beside: header)
    } catch { throw error.ofCopy }
  }
}

extension CopyPack {
  fileprivate static func read(
    _ plain: Span<UInt8>, _ keys: borrowing Keyring, beside header: HeaderObject?
  ) throws(VaultError) -> CopyPack {
    let view: PackView
    do throws(FormatError) { view = try PackView(decoding: plain) } catch {
      throw VaultError(error, about: .item)
    }
    var pack = try CopyPack(view, keys)
    if let header { pack.add(header) }
    return pack
  }
}

extension RemoteObject {
  @_lifetime(copy bytes)
  static func checked(
    _ bytes: Span<UInt8>, _ kind: Kind, in place: ObjectPlace, named name: [UInt8]
  ) throws(VaultError) -> Span<UInt8> {
    do throws(FormatError) {
      return try body(of: bytes, kind, in: place.epoch, named: name)
    } catch { throw VaultError(error, about: .item) }
  }
}
