# SPDX-License-Identifier: MIT
"""backend_tests(): the test programs of a folder, each run on every backend."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load("//cuda:defs.bzl", "REQUIRES_CUDA")

def backend_test(name, srcs, backends = ["cpu", "cpu-threads", "cuda"], slow = [], deps = [], tags = [], **kwargs):
    """Makes the tests NAME_cpu, NAME_cpu-threads and NAME_cuda; the last is skipped without a CUDA toolkit.

    Args:
      name: of the tests, before the backend.
      srcs: one program; it gets the backend as its argument.
      backends: to run it on.
      slow: of these, the backends that are left to tests/run.sh --all, for taking more than 20 s of a core.
      deps: beside the library, cmocka and the test support.
      tags: of each test; "data" if it does nothing without GPUOPT_TEST_DATA, which leaves it to --all.
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
            linkstatic = True,
            tags = ["manual"],  # else `bazel test //...` makes it with PIC, too
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
            tags = tags + (["slow"] if backend in slow else []) + (["exclusive"] if gpu else []) +
                   (["threads"] if backend == "cpu-threads" else []),  # its four threads are busy for one core
            target_compatible_with = REQUIRES_CUDA if gpu else [],
            deps = [name + ("_cuda_program" if gpu else "_program")],
            **kwargs
        )

def backend_tests(deps = [], options = {}):
    """A backend_test() of every NAME_test.c and NAME_test.cpp of the folder; its other sources are linked as needed.

    Args:
      deps: of all of them.
      options: for some names, a dictionary of further arguments of backend_test().
    """
    tests = native.glob(["*_test.c", "*_test.cpp"])
    cc_library(
        name = "helpers",
        testonly = True,
        srcs = native.glob(
            ["*.c"],
            exclude = tests,
        ),
        hdrs = native.glob(["*.h"]),
        linkstatic = True,
        tags = ["manual"],
        deps = deps + ["//tests/support:headers"],
    )
    for test in tests:
        name = test[:test.rfind("_test.")]
        more = dict(options.get(name, {}))
        backend_test(
            name = name,
            srcs = [test],
            deps = [":helpers"] + deps + more.pop("deps", []),
            **more
        )
