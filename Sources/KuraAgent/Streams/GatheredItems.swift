// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Keeps the items of a batch that is stored as a whole while they come in, request by request.
final class GatheredItems {
  /// Whose lock wipes them.
  let session: Session
  private var items: SecretBuffer
  /// How many there are.
  private(set) var count = 0

  init(of session: Session) throws(Refusal) {
    self.session = session
    do throws(SecureMemoryError) { items = try SecretBuffer(capacity: 65_536) } catch {
      throw .outOfMemory
    }
  }

  /// Puts more behind them.
  func add(_ more: Span<UInt8>, count added: Int) throws(Refusal) {
    guard count + added <= ProtocolLimit.wholeBatch,
      items.count + more.count <= ProtocolLimit.wholeBatchBytes
    else { throw .tooLarge(limit: UInt64(ProtocolLimit.wholeBatchBytes)) }
    do throws(SecureMemoryError) { try items.append(more) } catch { throw .outOfMemory }
    count += added
  }

  /// Gives them away.
  func finish() throws(Refusal) -> SecretBytes {
    do throws(SecureMemoryError) {
      var taken = try SecretBuffer(capacity: 0)
      swap(&taken, &items)
      return taken.finish()
    } catch { throw .outOfMemory }
  }
}
