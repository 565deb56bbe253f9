// SPDX-License-Identifier: MIT

/// Lists the options there are, each under its long spelling.
enum OptionName: String, Sendable, CaseIterable {
  case acceptMoved = "accept-moved"
  case acceptRollback = "accept-rollback"
  case all
  case allow
  case approve
  case attribute = "attr"
  case auto
  case batch
  case clear
  case codeFD = "code-fd"
  case codeFile = "code-file"
  case color
  case compact
  case copy
  case delete
  case deleted
  case digits
  case drop
  case dryRun = "dry-run"
  case empty
  case environment = "env"
  case environmentFile = "env-file"
  case environmentFrom = "env-from"
  case expand
  case fido2
  case file
  case fileDescriptor = "fd"
  case force
  case forTime = "for"
  case generate
  case grant
  case grantFrom = "grant-from"
  case grants
  case help
  case history
  case idleTimeout = "idle-timeout"
  case ifRevision = "if-revision"
  case input
  case into
  case json
  case kdfMemory = "kdf-memory"
  case kdfPasses = "kdf-passes"
  case keep
  case keyFile = "key-file"
  case keyFileFD = "key-file-fd"
  case label
  case length
  case linear
  case lines
  case local
  case long
  case lower
  case mask
  case maxSession = "max-session"
  case name
  case network
  case newline
  case newPasscodeFD = "new-passcode-fd"
  case newPasscodeFile = "new-passcode-file"
  case newRecoveryKeyFile = "new-recovery-key-file"
  case noAmbiguous = "no-ambiguous"
  case noAgent = "no-agent"
  case noCode = "no-code"
  case noInput = "no-input"
  case noRecoveryKey = "no-recovery-key"
  case null
  case onDuplicate = "on-duplicate"
  case only
  case op
  case otherPasscodeFD = "other-passcode-fd"
  case otherPasscodeFile = "other-passcode-file"
  case otherRecoveryKeyFile = "other-recovery-key-file"
  case otp
  case output
  case passcodeFD = "passcode-fd"
  case passcodeFile = "passcode-file"
  case passwordFile = "password-file"
  case pid
  case pinFD = "pin-fd"
  case pinFile = "pin-file"
  case prefix
  case protect
  case protected
  case quiet
  case raw
  case reason
  case recipient
  case recoveryKey = "recovery-key"
  case recoveryKeyFile = "recovery-key-file"
  case remove
  case replace
  case revision
  case rotate
  case sandbox
  case role
  case secret
  case show
  case slots
  case staged
  case stdin
  case submit
  case symbols
  case to
  case tpm
  case trim
  case unsorted
  case until
  case upper
  case uses
  case vault
  case verify
  case version
  case wait
  case watch
  case weak
  case weakKDF = "weak-kdf"
  case weakPasscode = "weak-passcode"
  case withProtected = "with-protected"
  case words
  case writable = "rw"
  case yes

  /// The option as it is typed.
  var spelling: String { "--" + rawValue }
}
