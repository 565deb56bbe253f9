// SPDX-License-Identifier: MIT

@main struct Agent { static func main() {} }
