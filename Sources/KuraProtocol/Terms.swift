// SPDX-License-Identifier: MIT

// Whoever speaks of the protocol speaks in these terms.
@_exported public import KuraTerms
