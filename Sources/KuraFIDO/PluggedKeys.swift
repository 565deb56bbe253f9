// SPDX-License-Identifier: MIT

internal import Glibc

/// Looks at the kernel's list of input devices (hidraw), which everybody can read, for security keys that this user may not
/// use.
struct PluggedKeys {
  /// No report descriptor is longer (HID_MAX_DESCRIPTOR_SIZE of the kernel).
  private static let longest = 4_096
  /// The page of usages by which a security key is told (CTAP 2.1, 11.2.8.1).
  private static let page: UInt32 = 0xF1D0

  private let list: String
  private let devices: String
  private let mayUse: (String) -> Bool

  /// - Parameters:
  ///   - list: Where the kernel lists them.
  ///   - devices: Where the devices are.
  ///   - mayUse: Whether this user may read and write a device.
  init(
    list: String = "/sys/class/hidraw", devices: String = "/dev",
    mayUse: @escaping (String) -> Bool = { unsafe access($0, R_OK | W_OK) == 0 }
  ) {
    (self.list, self.devices, self.mayUse) = (list, devices, mayUse)
  }

  /// The lowest number of a key that this user may not use; nil where there is none.
  var denied: UInt32? {
    guard let directory = unsafe opendir(list) else { return nil }
    defer { unsafe closedir(directory) }
    var numbers: [UInt32] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasPrefix("hidraw"), let number = UInt32(name.dropFirst(6)),
        Self.isOfKey(contents("\(list)/\(name)/device/report_descriptor")),
        !mayUse("\(devices)/\(name)")
      else { continue }
      numbers.append(number)
    }
    return numbers.min()
  }

  private func contents(_ path: String) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.longest)
    let count = unsafe read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  /// Whether a device with such reports is a security key (HID 1.11, 6.2.2).
  static func isOfKey(_ descriptor: [UInt8]) -> Bool {
    var rest = descriptor[...]
    while let prefix = rest.popFirst() {
      // A long item has its length behind it.
      let isLong = prefix == 0xFE
      let count = isLong ? Int(rest.first ?? 0) + 2 : [0, 1, 2, 4][Int(prefix & 3)]
      let value = rest.prefix(count).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      if !isLong, prefix & 0xFC == 0x04, value == page { return true }
      rest = rest.dropFirst(count)
    }
    return false
  }
}
