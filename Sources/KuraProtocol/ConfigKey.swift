// SPDX-License-Identifier: MIT

public typealias ConfigKey = Setting
