// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

/// The released `kura` is Embedded Swift; everything else, and every debug build, is ordinary Swift.
let isEmbedded = Context.environment["KURA_EMBEDDED"] != nil
/// Packagers link the distribution's shared libraries; the default links them into the engine.
let isShared = Context.environment["KURA_SHARED"] != nil

/// Whether it is built for itself. For an app that depends on it warnings are kept quiet, and a build that makes errors
/// of what it keeps quiet ends at once.
let isRoot = Context.environment["PWD"] == Context.packageDirectory

let strict: [SwiftSetting] =
  (isRoot ? [.treatAllWarnings(as: .error)] : []) + [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
  ]
let client = strict + (isEmbedded ? [.enableExperimentalFeature("Embedded")] : [])
/// At night what is tested is optimized, as it is released. The tests themselves take more time to optimize than that
/// would save.
let tests: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes")]
  + (Context.environment["KURA_NIGHTLY"] != nil ? [.unsafeFlags(["-Onone"])] : [])

func libraries(_ names: [String], support: [String] = []) -> [LinkerSetting] {
  isShared
    ? names.map { .linkedLibrary($0) }
    : names.map { .linkedLibrary(":lib\($0).a") } + support.map { .linkedLibrary($0) }
}

/// The readers of what others wrote, under Swift Testing or, for `.ci/fuzz`, under libFuzzer, which
/// brings a `main` of its own.
let isFuzzer = Context.environment["KURA_FUZZ"] != nil
let read: [Target.Dependency] = [
  "KuraCLI", "KuraFormat", "KuraImport", "KuraMask", "KuraProtocol", "KuraCrypto", "KuraTerms",
  "KuraUI", "SecureMemory", "TestGround",
]
let fuzzing: Target =
  isFuzzer
  ? .executableTarget(
    name: "kura-fuzz", dependencies: read, path: "Tests/FuzzTests", exclude: ["FuzzTests.swift"],
    swiftSettings: tests + [.unsafeFlags(["-parse-as-library"])])
  : .testTarget(
    name: "FuzzTests", dependencies: read, exclude: ["Fuzzer.swift"], swiftSettings: tests)

/// An Embedded program compiles once more whatever it reaches in its modules. So the released `kura` has
/// its commands in its own module: a quarter less to compile, and a program a third smaller.
let program: [Target] =
  isEmbedded
  ? [
    .executableTarget(
      name: "kura",
      dependencies: ["CKuraSystem", "KuraClient", "KuraMask", "KuraProtocol", "SecureMemory"],
      path: "Sources",
      exclude: [
        "CArgon2", "CExpat", "CFIDO2", "CKuraSystem", "CMinizip", "CNcurses", "CNettle",
        "CPostgres",
        "CSQLite", "CSodium", "CSystemd", "CTSS", "CUnicode", "CZlib", "CZxcvbn",
        "KuraAgent", "KuraClient", "KuraCrypto", "KuraDesktop", "KuraFIDO", "KuraFormat",
        "KuraHardware",
        "KuraImport",
        "KuraKeychain", "KuraMask", "KuraProtocol", "KuraStorage", "KuraTerms", "KuraTesting",
        "KuraPostgres", "KuraStore", "KuraSync", "KuraTPM", "KuraUI", "KuraVault",
        "SecureMemory", "kura-agent",
        "kura-desktop", "kura-hardware", "kura-import", "kura-strength", "kura-sync",
        "kura-sync-postgres",
        "kura-ui",
      ],
      sources: ["KuraCLI", "kura"], swiftSettings: client)
  ]
  : [
    .target(
      name: "KuraCLI",
      dependencies: ["CKuraSystem", "KuraClient", "KuraMask", "KuraProtocol", "SecureMemory"],
      swiftSettings: client),
    .executableTarget(
      name: "kura", dependencies: ["CKuraSystem", "KuraCLI"], swiftSettings: client),
  ]

/// One target alone, with what it needs: `KURA_ONLY=KuraFormatTests swift test`. Without it a change of what
/// the lowest target offers is compiled into all the others before a single test runs.
let only = Context.environment["KURA_ONLY"]

/// Names a target and all that it depends on, however far down.
func closure(of name: String, in targets: [Target]) -> Set<String> {
  var found: Set<String> = []
  var rest = [name]
  while let next = rest.popLast() {
    guard found.insert(next).inserted, let target = targets.first(where: { $0.name == next }) else {
      continue
    }
    for case .byNameItem(let name, _) in target.dependencies { rest.append(name) }
  }
  return found
}

let package = Package(
  name: "kura",
  products: [
    .executable(name: "kura", targets: ["kura"]),
    .executable(name: "kura-agent", targets: ["kura-agent"]),
    .executable(name: "kura-desktop", targets: ["kura-desktop"]),
    .executable(name: "kura-hardware", targets: ["kura-hardware"]),
    .executable(name: "kura-import", targets: ["kura-import"]),
    .executable(name: "kura-strength", targets: ["kura-strength"]),
    .executable(name: "kura-sync", targets: ["kura-sync"]),
    .executable(name: "kura-sync-postgres", targets: ["kura-sync-postgres"]),
    .executable(name: "kura-ui", targets: ["kura-ui"]),
    // Each module that stands in another one's interface is met with it.
    .library(name: "KuraKeychain", targets: ["KuraKeychain", "KuraClient", "SecureMemory"]),
    .library(
      name: "KuraClient", targets: ["KuraClient", "KuraProtocol", "KuraTerms", "SecureMemory"]),
    .library(
      name: "KuraVault",
      targets: ["KuraVault", "KuraFormat", "KuraCrypto", "KuraTerms", "SecureMemory"]),
    .library(name: "KuraTesting", targets: ["KuraTesting"]),
  ],
  targets: [
    .systemLibrary(name: "CArgon2", providers: [.apt(["libargon2-dev"])]),
    .systemLibrary(name: "CExpat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CFIDO2", providers: [.apt(["libfido2-dev"])]),
    .systemLibrary(name: "CMinizip", providers: [.apt(["libminizip-dev"])]),
    .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),
    .systemLibrary(name: "CNettle", providers: [.apt(["nettle-dev"])]),
    .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CSodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(
      name: "CTSS", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
    .systemLibrary(name: "CUnicode", providers: [.apt(["libutf8proc-dev"])]),
    .systemLibrary(name: "CZxcvbn", providers: [.apt(["libzxcvbn-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CKuraSystem"),

    // Both halves.
    .target(name: "KuraTerms", swiftSettings: client),
    .target(name: "SecureMemory", dependencies: ["CKuraSystem"], swiftSettings: client),
    .target(name: "KuraMask", dependencies: ["SecureMemory"], swiftSettings: client),
    .target(
      name: "KuraProtocol", dependencies: ["KuraTerms", "SecureMemory"], swiftSettings: client),

    // The vault's side.
    .target(
      name: "KuraCrypto", dependencies: ["CKuraSystem", "CSodium", "SecureMemory"],
      swiftSettings: strict, linkerSettings: libraries(["sodium"])),
    .target(
      name: "KuraFormat", dependencies: ["CUnicode", "KuraCrypto", "KuraTerms", "SecureMemory"],
      swiftSettings: strict, linkerSettings: libraries(["utf8proc"])),
    .target(
      name: "KuraStorage", dependencies: ["CSQLite"], swiftSettings: strict,
      linkerSettings: libraries(["sqlite3"], support: ["m", "z"])),
    .target(
      name: "KuraVault",
      dependencies: ["KuraCrypto", "KuraFormat", "KuraStorage", "KuraTerms", "SecureMemory"],
      swiftSettings: strict),
    .target(
      name: "KuraAgent",
      dependencies: [
        "CKuraSystem", "KuraFormat", "KuraHardware", "KuraProtocol", "KuraVault", "SecureMemory",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "kura-agent", dependencies: ["KuraAgent"], swiftSettings: strict),

    // People's side.
    .target(
      name: "KuraClient", dependencies: ["CKuraSystem", "KuraProtocol", "SecureMemory"],
      swiftSettings: client),
    .target(
      name: "KuraDesktop",
      dependencies: [
        "CKuraSystem", "CSystemd", "KuraClient", "KuraHardware", "KuraProtocol", "KuraTerms",
        "SecureMemory",
      ],
      swiftSettings: strict, linkerSettings: [.linkedLibrary("systemd")]),
    .executableTarget(
      name: "kura-desktop", dependencies: ["KuraDesktop"], swiftSettings: strict),
    .executableTarget(
      name: "kura-strength", dependencies: ["CKuraSystem", "CZxcvbn", "SecureMemory"],
      // Debian's libzxcvbn.a is no position-independent code: plain builds take the shared library,
      // the released program is a static one without PIE.
      swiftSettings: strict, linkerSettings: [.linkedLibrary("zxcvbn"), .linkedLibrary("m")]),
    .target(
      name: "KuraUI",
      dependencies: ["CKuraSystem", "CNcurses", "KuraClient", "KuraProtocol", "SecureMemory"],
      swiftSettings: strict, linkerSettings: libraries(["ncursesw", "tinfo"])),
    .target(
      name: "KuraImport",
      dependencies: [
        "CArgon2", "CExpat", "CKuraSystem", "CMinizip", "CNettle", "CZlib", "KuraClient",
        "KuraProtocol", "KuraTerms", "SecureMemory",
      ],
      swiftSettings: strict,
      linkerSettings: libraries(["expat", "minizip", "z", "nettle", "argon2"])),
    .executableTarget(
      name: "kura-import", dependencies: ["CKuraSystem", "KuraImport"], swiftSettings: strict),
    .target(name: "KuraStore", dependencies: ["KuraTerms"], swiftSettings: strict),
    .target(
      name: "KuraSync",
      dependencies: [
        "CKuraSystem", "KuraClient", "KuraProtocol", "KuraStore", "KuraTerms", "SecureMemory",
      ],
      swiftSettings: strict),
    .target(
      name: "KuraPostgres", dependencies: ["CPostgres", "KuraStore", "KuraTerms"],
      swiftSettings: strict, linkerSettings: [.linkedLibrary("pq")]),
    .executableTarget(
      name: "kura-sync-postgres", dependencies: ["CKuraSystem", "KuraPostgres"],
      swiftSettings: strict),
    .executableTarget(
      name: "kura-sync", dependencies: ["CKuraSystem", "KuraSync"], swiftSettings: strict),
    .target(
      name: "KuraHardware", dependencies: ["KuraTerms", "SecureMemory"], swiftSettings: strict),
    .target(
      name: "KuraTPM", dependencies: ["CTSS", "KuraHardware", "KuraTerms", "SecureMemory"],
      swiftSettings: strict,
      linkerSettings: ["esys", "mu", "tctildr"].map { .linkedLibrary("tss2-" + $0) }),
    .target(
      name: "KuraFIDO", dependencies: ["CFIDO2", "KuraHardware", "KuraTerms", "SecureMemory"],
      swiftSettings: strict, linkerSettings: [.linkedLibrary("fido2")]),
    .executableTarget(
      name: "kura-hardware",
      dependencies: ["KuraFIDO", "KuraHardware", "KuraTPM", "KuraTerms", "SecureMemory"],
      swiftSettings: strict),
    .executableTarget(
      name: "kura-ui", dependencies: ["CKuraSystem", "KuraUI"], swiftSettings: strict),

    // For apps.
    .target(
      name: "KuraKeychain", dependencies: ["KuraClient", "KuraProtocol", "SecureMemory"],
      swiftSettings: strict),
    .target(
      name: "KuraTesting",
      dependencies: ["KuraClient", "KuraKeychain", "KuraProtocol", "SecureMemory"],
      swiftSettings: strict),

    // What a program looks like that uses the agent.
    .executableTarget(
      name: "juice", dependencies: ["KuraKeychain"], path: "Examples/Juice",
      swiftSettings: tests),

    // Proof.
    .target(
      name: "TestGround", dependencies: ["KuraProtocol"], path: "Tests/TestGround",
      swiftSettings: tests),
    .target(
      name: "TestChips", dependencies: ["KuraVault", "SecureMemory"], path: "Tests/TestChips",
      swiftSettings: tests),
    .testTarget(
      name: "SecureMemoryTests", dependencies: ["CKuraSystem", "SecureMemory"], swiftSettings: tests
    ),
    .testTarget(
      name: "KuraCryptoTests", dependencies: ["KuraCrypto", "SecureMemory"], swiftSettings: tests),
    .testTarget(
      name: "KuraFormatTests", dependencies: ["KuraFormat", "KuraCrypto", "SecureMemory"],
      swiftSettings: tests),
    .testTarget(
      name: "KuraStorageTests", dependencies: ["KuraStorage", "CSQLite", "TestGround"],
      swiftSettings: tests),
    .testTarget(
      name: "KuraVaultTests",
      dependencies: [
        "KuraVault", "KuraStorage", "KuraFormat", "KuraCrypto", "SecureMemory", "CSQLite",
        "TestChips", "TestGround",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "KuraProtocolTests", dependencies: ["KuraProtocol", "SecureMemory", "TestGround"],
      swiftSettings: tests),
    .testTarget(
      name: "KuraAgentTests",
      dependencies: [
        "KuraAgent", "KuraFormat", "KuraHardware", "KuraProtocol", "KuraVault", "SecureMemory",
        "CKuraSystem", "CSQLite", "TestChips", "TestGround",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "KuraClientTests",
      dependencies: ["KuraClient", "KuraProtocol", "SecureMemory", "TestGround"],
      swiftSettings: tests),
    .testTarget(
      name: "KuraKeychainTests",
      dependencies: [
        "KuraClient", "KuraKeychain", "KuraProtocol", "KuraTesting", "SecureMemory", "kura-agent",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "KuraCLITests",
      dependencies: ["KuraCLI", "KuraClient", "KuraProtocol", "SecureMemory", "TestGround"],
      swiftSettings: tests),
    .testTarget(
      name: "KuraDesktopTests",
      dependencies: ["KuraDesktop", "KuraHardware", "KuraProtocol", "KuraTerms", "SecureMemory"],
      swiftSettings: tests),
    .testTarget(
      name: "KuraHardwareTests",
      dependencies: [
        "KuraFIDO", "KuraHardware", "KuraTerms", "SecureMemory", "TestGround", "kura-hardware",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "KuraImportTests",
      dependencies: [
        "CKuraSystem", "KuraImport", "KuraClient", "KuraProtocol", "KuraTerms", "TestGround",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "KuraMaskTests", dependencies: ["KuraMask", "SecureMemory", "TestGround"],
      swiftSettings: tests),
    .testTarget(
      name: "KuraSyncTests",
      dependencies: [
        "CKuraSystem", "KuraPostgres", "KuraStore", "KuraSync", "KuraClient", "KuraProtocol",
        "KuraTerms", "SecureMemory", "TestGround",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "KuraUITests",
      dependencies: ["KuraUI", "KuraClient", "KuraProtocol", "SecureMemory", "TestGround"],
      swiftSettings: tests),
    .testTarget(
      name: "ArchitectureTests", exclude: ["defaults.txt", "unsafe.txt"], swiftSettings: tests),
    .testTarget(
      name: "EndToEndTests", dependencies: ["CKuraSystem", "juice", "TestGround"],
      swiftSettings: tests),
    fuzzing,
    .target(
      name: "CMemoryScan", dependencies: ["CSodium"], path: "Tests/CMemoryScan",
      linkerSettings: libraries(["sodium"])),
    .testTarget(
      name: "FaultTests",
      dependencies: [
        "CMemoryScan",
        "KuraVault", "KuraStorage", "KuraFormat", "KuraCrypto", "SecureMemory", "CSQLite",
        "TestGround",
      ],
      swiftSettings: tests),
  ].filter { !isEmbedded || $0.type != .test } + program
)

if let only {
  let wanted = closure(of: only, in: package.targets)
  package.targets.removeAll { !wanted.contains($0.name) }
  package.products.removeAll()
}
