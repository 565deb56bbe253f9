# SPDX-License-Identifier: MIT
"""The stores that are compared: each makes itself and says which commands do what."""
