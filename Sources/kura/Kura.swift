// SPDX-License-Identifier: MIT

@main struct Kura { static func main() {} }
