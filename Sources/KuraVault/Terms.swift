// SPDX-License-Identifier: MIT

// Whoever speaks of the vault speaks in these terms.
@_exported public import KuraTerms
