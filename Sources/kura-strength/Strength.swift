// SPDX-License-Identifier: MIT

@main struct Strength { static func main() {} }
