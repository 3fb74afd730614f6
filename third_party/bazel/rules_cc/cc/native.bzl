# SPDX-License-Identifier: MIT
"""Gives Bazel's own provider a name that defs.bzl can export."""

NativeCcInfo = CcInfo
