# SPDX-License-Identifier: MIT
"""cuda_library(): nvcc for the objects, cc_library() for everything else."""

load("@gpuopt_cuda//:defs.bzl", "CUDA", _REQUIRES_CUDA = "REQUIRES_CUDA")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_library")

REQUIRES_CUDA = _REQUIRES_CUDA

def if_cuda(then, otherwise = []):
    """The first where a toolkit was found, else the second: for programs that use the GPU if there is one."""
    return then if CUDA else otherwise

def _cuda_objects_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    includes = depset(transitive = [c.includes for c in contexts])
    quotes = depset(transitive = [c.quote_includes for c in contexts])
    systems = depset(transitive = [c.system_includes for c in contexts])
    defines = depset(transitive = [c.defines for c in contexts])
    headers = depset(ctx.files.hdrs, transitive = [c.headers for c in contexts])
    archs = ctx.var.get("cuda_archs", ctx.attr.archs).split(",")
    outputs = []
    sources = [src for src in ctx.files.srcs if src.extension == "cu"]
    for src in sources:
        out = ctx.actions.declare_file("_objs/%s/%s.o" % (ctx.label.name, src.basename[:-len(".cu")]))
        args = ctx.actions.args()
        args.add_all(["-x", "cu", "-c", src, "-o", out, "-std=c++17", "-ccbin", CUDA.host])
        args.add_all(["-Xcompiler", "-fPIC", "-objtemp", "-t", "2"])
        args.add_all(["-g"] if ctx.var["COMPILATION_MODE"] == "dbg" else ["-O2", "-DNDEBUG"])
        args.add_all(["-gencode=arch=compute_%s,code=sm_%s" % (a, a) for a in archs])
        args.add("-gencode=arch=compute_%s,code=compute_%s" % (archs[-1], archs[-1]))
        args.add_all(depset(["."], transitive = [includes, quotes]), before_each = "-I")
        args.add_all(systems, before_each = "-isystem")
        args.add_all(depset(ctx.attr.defines, transitive = [defines]), before_each = "-D")
        args.add_all(ctx.attr.copts + [o for o in ctx.var.get("cuda_copts", "").split(",") if o])
        ctx.actions.run(
            executable = CUDA.nvcc,
            arguments = [args],
            inputs = depset(ctx.files.srcs + [ctx.file._version], transitive = [headers]),
            outputs = [out],
            use_default_shell_env = True,
            mnemonic = "CudaCompile",
            progress_message = "Compiling %s" % src.short_path,
        )
        outputs.append(out)
    return [DefaultInfo(files = depset(outputs))]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "archs": attr.string(default = "80,90"),
        "copts": attr.string_list(),
        "defines": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = True),
        "srcs": attr.label_list(allow_files = [".cu", ".cuh"], mandatory = True),
        "_version": attr.label(  # so that a new toolkit compiles anew
            default = "@gpuopt_cuda//:version.txt",
            allow_single_file = True,
        ),
    },
)

def cuda_library(name, srcs, hdrs = [], deps = [], copts = [], defines = [], **kwargs):
    """Compiles srcs with nvcc and archives them as an ordinary cc_library.

    Args:
      name: the library.
      srcs: .cu files, and the .cuh files that they include.
      hdrs: headers that dependents include.
      deps: cc_library or cuda_library targets.
      copts: extra nvcc options.
      defines: passed to nvcc and to every dependent.
      **kwargs: passed to cc_library.
    """
    _cuda_objects(
        name = name + "_objects",
        srcs = srcs,
        hdrs = hdrs,
        copts = copts,
        defines = defines,
        target_compatible_with = REQUIRES_CUDA,
        deps = deps,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = [":" + name + "_objects"],
        hdrs = hdrs,
        defines = defines,
        linkstatic = True,  # one copy of the device code and of cudart
        target_compatible_with = REQUIRES_CUDA,
        deps = deps + ["@gpuopt_cuda//:cudart"],
        **kwargs
    )
