// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

// The examples as a package of its own, which depends on Kura as an app does. Elsewhere the line is
// `.package(url: "…/kura.git", from: "0.2.0")`.
let package = Package(
  name: "examples",
  dependencies: [.package(name: "kura", path: "..")],
  targets: [
    .executableTarget(
      name: "juice", dependencies: [.product(name: "KuraKeychain", package: "kura")],
      path: "Juice"),
    .executableTarget(
      name: "shelf", dependencies: [.product(name: "KuraVault", package: "kura")],
      path: "Shelf"),
    .testTarget(
      name: "JuiceTests",
      dependencies: [
        .product(name: "KuraKeychain", package: "kura"),
        .product(name: "KuraTesting", package: "kura"),
        // Puts the agent beside the tests.
        .product(name: "kura-agent", package: "kura"),
      ],
      path: "JuiceTests"),
  ])
