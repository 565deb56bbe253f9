// SPDX-License-Identifier: MIT

public typealias CredentialKind = Credential
