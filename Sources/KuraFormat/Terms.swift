// SPDX-License-Identifier: MIT

// Whoever speaks of the format speaks in these terms.
@_exported public import KuraTerms
