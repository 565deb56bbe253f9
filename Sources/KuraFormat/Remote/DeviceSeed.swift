// SPDX-License-Identifier: MIT

public import KuraCrypto
internal import SecureMemory

/// Holds what a device is known by to the others, the secret half of its pair; it stands in no vault, so that a copy of
/// one is no copy of the device.
public struct DeviceSeed: ~Copyable, Sendable {
  /// The bytes of the file that has one.
  public static let byteCount =
    magic.count + 2 * identifierByteCount + Key.byteCount + Seal.overhead

  private static let magic = Array("KURASYNC".utf8)

  /// The vault.
  public let vault: VaultID
  /// The device.
  public let device: DeviceID
  private let seed: SecretBytes

  /// A new one.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public static func random(vault: VaultID, device: DeviceID) throws(FormatError) -> DeviceSeed {
    do { return DeviceSeed(vault: vault, device: device, seed: try Key.random().finish()) } catch {
      throw .outOfMemory
    }
  }

  init(vault: VaultID, device: DeviceID, seed: consuming SecretBytes) {
    self.vault = vault
    self.device = device
    self.seed = seed
  }

  /// Reads the file that has one.
  ///
  /// - Parameters:
  ///   - file: All of it.
  ///   - key: The vault key's subkey for what copies know of each other.
  ///   - vault: The vault that it has to be of.
  ///   - device: The device, likewise.
  /// - Throws: ``FormatError/damaged`` also for a file of another device or vault, ``FormatError/outOfMemory``.
  public static func open(
    _ file: Span<UInt8>, under key: borrowing Key, vault: VaultID, device: DeviceID
  ) throws(FormatError) -> DeviceSeed {
    guard file.count == byteCount else { throw .damaged }
    var reader = ByteReader(file)
    for byte in magic where try reader.integer(UInt8.self) != byte { throw .damaged }
    let (of, whose): (VaultID, DeviceID) = (try reader.identifier(), try reader.identifier())
    guard of == vault, whose == device else { throw .damaged }
    let place = AssociatedData.deviceSeed(vault: vault, device: device)
    do throws(CryptoError) {
      let seed = try Seal.open(
        file.extracting(droppingFirst: reader.offset), authenticating: place.span, under: key)
      return DeviceSeed(vault: vault, device: device, seed: seed)
    } catch { throw FormatError(error) }
  }

  /// The file that has it.
  ///
  /// - Parameter key: As for ``open(_:under:vault:device:)``.
  /// - Throws: ``FormatError/outOfMemory``.
  public func file(under key: borrowing Key) throws(FormatError) -> [UInt8] {
    var bytes = DeviceSeed.magic
    bytes.append(vault)
    bytes.append(device)
    let place = AssociatedData.deviceSeed(vault: vault, device: device)
    do throws(CryptoError) {
      return bytes + (try Seal.seal(seed.bytes, authenticating: place.span, under: key))
    } catch { throw FormatError(error) }
  }

  /// What signs for the device.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func pair() throws(FormatError) -> SigningPair {
    do { return try SigningPair(seed: seed) } catch { throw .outOfMemory }
  }

  /// Seals what the device says to itself.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func ownKey() throws(FormatError) -> Key {
    let place = vault.bytes + device.bytes
    do { return try Key(copying: seed.bytes).subkey(label: .own, vault: place.span) } catch {
      throw .outOfMemory
    }
  }

  /// Who the device is from then on, when another machine has its id: whichever of the two finds it.
  ///
  /// - Parameter revision: The first that it made and the other has not.
  /// - Throws: ``FormatError/outOfMemory``.
  public func twin(from revision: RevisionID) throws(FormatError) -> DeviceSeed {
    do throws(CryptoError) {
      var hash = try KeyedHash(keyBytes: Span(), byteCount: identifierByteCount)
      hash.update(.twin)
      hash.update(device)
      hash.update(revision)
      let id = try hash.finalizeSecret()
      let next = DeviceID(id.bytes)
      let name = next.bytes
      let seed = try Key(copying: seed.bytes).subkey(label: .twin, vault: name.span)
      return DeviceSeed(vault: vault, device: next, seed: seed.finish())
    } catch { throw FormatError(error) }
  }
}
