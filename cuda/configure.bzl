# SPDX-License-Identifier: MIT
"""cuda_configure() finds an installed CUDA toolkit, as the repository @gpuopt_cuda. Without one, CUDA targets are skipped."""

# A machine's folders under targets/ of a toolkit; sbsa is NVIDIA's name for Arm servers.
_TARGETS = {
    "aarch64": ["sbsa-linux", "aarch64-linux"],
    "x86_64": ["x86_64-linux"],
}

_FOUND = """\
filegroup(
    name = "nvcc",
    srcs = ["bin/nvcc"],
)

# All that nvcc reads.
filegroup(
    name = "files",
    srcs = glob([
        "bin/**",
        "include/**",
        "nvvm/**",
    ]),
)

cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],
)

cc_library(
    name = "cudart",
    srcs = ["lib/libcudart_static.a"],
    linkopts = ["-ldl", "-lpthread", "-lrt"],
)

# cuBLAS and cuSOLVER, from the toolkit if it has them, otherwise where the linker finds them.
cc_library(
    name = "libraries",
    linkopts = %r + ["-lcublas", "-lcusolver"],
)
"""

_MISSING = """\
[filegroup(name = name) for name in ["nvcc", "files"]]

[cc_library(name = name) for name in ["headers", "cudart", "libraries"]]
"""

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

"""

# Since 0.0.17 rules_cc has files for the two symbols, and needs them from Bazel 9 on; before, they were Bazel's own,
# which rules_cc 0.0.1 and 0.0.2 do not pass on.
_OF_RULES_CC = """\
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

"""

_DEFS = """\
CC_COMMON = cc_common
CC_INFO = CcInfo
CUDA_FOUND = %s
"""

def _first(ctx, root, names):
    """The first of these paths below root that is there."""
    for name in names:
        if ctx.path(root + "/" + name).exists:
            return root + "/" + name
    return None

def _toolkit(ctx):
    """The paths of a toolkit's parts and the options for linking its libraries, or None."""
    if ctx.os.environ.get("GPUOPT_CUDA") == "0":
        return None
    nvcc = ctx.which("nvcc")
    machine = ctx.execute(["uname", "-m"]).stdout.strip()
    targets = ["targets/" + target for target in _TARGETS.get(machine, [])]
    for root in [ctx.attr.path] if ctx.attr.path else [
        ctx.os.environ.get("CUDA_PATH"),
        ctx.os.environ.get("CUDA_HOME"),
        "/usr/local/cuda",
        str(nvcc.realpath.dirname.dirname) if nvcc else None,
    ]:
        if not root or not ctx.path(root + "/bin/nvcc").exists:
            continue
        folders = [target + "/lib" for target in targets] + ["lib64", "lib"]
        include = _first(ctx, root, [target + "/include" for target in targets] + ["include"])
        cudart = _first(ctx, root, [folder + "/libcudart_static.a" for folder in folders])
        cublas = _first(ctx, root, [folder + "/libcublas.so" for folder in folders])
        if include and cudart and ctx.path(root + "/nvvm").exists:
            folder = cublas[:-len("/libcublas.so")] if cublas else None
            return struct(
                links = {
                    "bin": root + "/bin",
                    "include": include,
                    "lib/libcudart_static.a": cudart,
                    "nvvm": root + "/nvvm",
                },
                library_options = ["-L" + folder, "-Wl,-rpath," + folder] if folder else [],
            )
    return None

def _cuda_repository_impl(ctx):
    toolkit = _toolkit(ctx)
    for link, path in (toolkit.links if toolkit else {}).items():
        ctx.symlink(path, link)
    ctx.file("BUILD", _BUILD + (_FOUND % toolkit.library_options if toolkit else _MISSING))
    common = ctx.path(ctx.attr._rules_cc).dirname.get_child("common")
    has_symbols = common.get_child("cc_common.bzl").exists
    ctx.file("defs.bzl", (_OF_RULES_CC if has_symbols else "") + _DEFS % bool(toolkit))

cuda_repository = repository_rule(
    implementation = _cuda_repository_impl,
    attrs = {
        "path": attr.string(),
        "_rules_cc": attr.label(default = "@rules_cc//cc:defs.bzl"),
    },
    environ = ["CUDA_HOME", "CUDA_PATH", "GPUOPT_CUDA", "PATH"],
    local = True,
    configure = True,
)

def cuda_configure(name = "gpuopt_cuda", path = ""):
    """For a WORKSPACE: the repository, and nvcc from it as the toolchain of CUDA targets.

    Args:
      name: gpuopt_cuda.
      path: the toolkit's folder; by default the first that has one of $CUDA_PATH, $CUDA_HOME, /usr/local/cuda and
        the folder above that of nvcc in $PATH.
    """
    cuda_repository(name = name, path = path)
    native.register_toolchains(str(Label("//cuda/nvcc:toolchain")))
