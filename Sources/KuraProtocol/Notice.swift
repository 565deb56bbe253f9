// SPDX-License-Identifier: MIT

public typealias WeaknessSet = Weaknesses
