# SPDX-License-Identifier: MIT
"""Finds an installed CUDA toolkit. Without one, CUDA targets are skipped."""

_FOUND = """\
package(default_visibility = ["//visibility:public"])

exports_files(["version.txt"])

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
"""

_MISSING = """\
package(default_visibility = ["//visibility:public"])

exports_files(["version.txt"])

[cc_library(name = name) for name in ["headers", "cudart"]]
"""

_LOAD = 'load("@rules_cc//cc:defs.bzl", "cc_library")\n\n'

def _toolkit(ctx):
    nvcc = ctx.which("nvcc")
    candidates = [
        ctx.os.environ.get("CUDA_PATH"),
        ctx.os.environ.get("CUDA_HOME"),
        "/usr/local/cuda",
        str(nvcc.realpath.dirname.dirname) if nvcc else None,
    ]
    if ctx.os.environ.get("GPUOPT_CUDA") == "0":
        return None
    for candidate in candidates:
        if candidate and ctx.path(candidate + "/bin/nvcc").exists:
            return candidate
    return None

def _cuda_configure_impl(ctx):
    root = _toolkit(ctx)
    constraint = str(ctx.attr.found)
    if not root:
        ctx.file("version.txt", "none")
        ctx.file("BUILD", _LOAD + _MISSING)
        ctx.file("defs.bzl", "CUDA = None\n\nREQUIRES_CUDA = [%r]\n" % constraint)
        return
    ctx.symlink(root + "/include", "include")
    for lib in ["lib64", "lib", "targets/x86_64-linux/lib"]:
        if ctx.path(root + "/" + lib + "/libcudart_static.a").exists:
            ctx.symlink(root + "/" + lib, "lib")
            break
    ctx.file("version.txt", ctx.execute([root + "/bin/nvcc", "--version"]).stdout)
    host = ctx.os.environ.get("CXX") or "g++"
    ctx.file("BUILD", _LOAD + _FOUND)
    ctx.file("defs.bzl", "CUDA = struct(nvcc = %r, host = %r)\n\nREQUIRES_CUDA = []\n" % (
        root + "/bin/nvcc",
        str(ctx.which(host) or host),
    ))

cuda_configure = repository_rule(
    implementation = _cuda_configure_impl,
    attrs = {"found": attr.label(default = ":cuda_toolkit_found")},
    environ = ["CUDA_HOME", "CUDA_PATH", "CXX", "GPUOPT_CUDA", "PATH"],
    local = True,
    configure = True,
)
