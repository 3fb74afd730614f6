# SPDX-License-Identifier: MIT
"""backend_test(): one test program, run on every backend."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load("//cuda:defs.bzl", "REQUIRES_CUDA")

def backend_test(name, srcs, backends = ["cpu", "cpu-threads", "cuda"], deps = [], tags = [], **kwargs):
    """Makes the tests NAME_cpu, NAME_cpu-threads and NAME_cuda; the last is skipped without a CUDA toolkit.

    Args:
      name: of the tests, before the backend.
      srcs: one program; it gets the backend as its argument.
      backends: to run it on.
      deps: beside the library, cmocka and the test support.
      tags: of each test.
      **kwargs: passed to cc_test.
    """
    for build, gpu in [("_program", False), ("_cuda_program", True)]:
        if not [b for b in backends if (b == "cuda") == gpu]:
            continue
        cc_library(
            name = name + build,
            testonly = True,
            srcs = srcs,
            alwayslink = True,
            local_defines = ["TEST_WITH_CUDA"] if gpu else [],
            target_compatible_with = REQUIRES_CUDA if gpu else [],
            deps = deps + ["//tests/support:support_cuda" if gpu else "//tests/support"],
        )
    for backend in backends:
        gpu = backend == "cuda"
        cc_test(
            name = name + "_" + backend,
            args = [backend],
            linkstatic = True,
            tags = tags + (["exclusive"] if gpu else []) + (["cpu:4", "threads"] if backend == "cpu-threads" else []),
            target_compatible_with = REQUIRES_CUDA if gpu else [],
            deps = [name + ("_cuda_program" if gpu else "_program")],
            **kwargs
        )
