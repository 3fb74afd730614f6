# SPDX-License-Identifier: MIT
"""Bazel 7+ entry point to cuda_configure(); Bazel 4 to 6 never load this file."""

load(":configure.bzl", "cuda_configure")

def _cuda_impl(_ctx):
    cuda_configure(name = "gpuopt_cuda")

cuda = module_extension(implementation = _cuda_impl)
