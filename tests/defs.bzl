# SPDX-License-Identifier: MIT
"""backend_tests(): the test programs of a folder, each run on every backend."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load("//cuda:defs.bzl", "REQUIRES_CUDA")

BACKENDS = ["cpu", "cpu-threads", "cuda", "cuda-emulated"]

# Tests that take a few seconds on the emulated GPU: they run there with other seeds and under sanitizers, too.
_BRIEF = [
    "api",
    "bounds",
    "contract",
    "count",
    "device",
    "parts",
    "resume",
    "step",
]

# How a program is built for each backend.
_KINDS = {
    "cuda": struct(
        suffix = "_cuda",
        support = "//tests/support:support_cuda",
        defines = ["TEST_WITH_CUDA"],
        compatible = REQUIRES_CUDA,
        tags = ["exclusive", "gpu"],
    ),
    "cuda-emulated": struct(
        suffix = "_emulated",
        support = "//tests/support:support_emulated",
        defines = ["TEST_WITH_CUDA", "TEST_WITH_EMULATED"],
        compatible = [],
        tags = ["slow", "emulated"],
    ),
}
_CPU = struct(suffix = "", support = "//tests/support", defines = [], compatible = [], tags = [])

def backend_test(name, srcs, backends = None, slow = [], deps = [], tags = [], **kwargs):
    """Makes the tests NAME_cpu, NAME_cpu-threads, NAME_cuda and NAME_cuda-emulated.

    NAME_cuda is skipped without a CUDA toolkit. NAME_cuda-emulated runs the same kernels on the CPU (//tests/emulated),
    and is left to tests/run.sh --all.

    Args:
      name: of the tests, before the backend.
      srcs: one program; it gets the backend as its argument.
      backends: to run it on; all if not given, but the public models are too large for the emulated GPU.
      slow: of these, the backends that are left to tests/run.sh --all, for taking more than 10 s of a core.
      deps: beside the library, cmocka and the test support.
      tags: of each test; "data" if it does nothing without GPUOPT_TEST_DATA, which leaves it to --all; "tsan" if
        it has threads of its own, so that ThreadSanitizer runs it on cpu in place of cpu-threads; "tsan-long" if
        ThreadSanitizer leaves it out, for taking long with it where others reach the same code.
      **kwargs: passed to cc_test.
    """
    if backends == None:
        backends = [b for b in BACKENDS if b != "cuda-emulated" or "data" not in tags]
    kinds = {}
    for backend in backends:
        kind = _KINDS.get(backend, _CPU)
        kinds[kind.suffix] = kind
    for kind in kinds.values():
        cc_library(
            name = name + kind.suffix + "_program",
            testonly = True,
            srcs = srcs,
            alwayslink = True,
            linkstatic = True,
            tags = ["manual"],  # else `bazel test //...` makes it with PIC, too
            local_defines = kind.defines,
            target_compatible_with = kind.compatible,
            deps = deps + [kind.support],
        )
    for backend in backends:
        kind = _KINDS.get(backend, _CPU)
        cc_test(
            name = name + "_" + backend,
            args = [backend],
            linkstatic = True,
            tags = tags + (["slow"] if backend in slow else []) + kind.tags +
                   (["emulated-long"] if backend == "cuda-emulated" and name not in _BRIEF else []) +
                   # Its four threads are busy for one core.
                   (["threads"] if backend == "cpu-threads" else []) +
                   (["tsan-long"] if backend == "cpu-threads" and "tsan" in tags else []),
            target_compatible_with = kind.compatible,
            deps = [name + kind.suffix + "_program"],
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
        visibility = ["//tests:__subpackages__"],
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
