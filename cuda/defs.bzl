# SPDX-License-Identifier: MIT
"""cuda_library(): nvcc for the objects, cc_library() for everything else."""

load("@gpuopt_cuda//:defs.bzl", "CC_COMMON", "CC_INFO", "CUDA_FOUND")
load("@rules_cc//cc:defs.bzl", "cc_library")
load(":settings.bzl", "ListInfo")

REQUIRES_CUDA = [] if CUDA_FOUND else [str(Label("//cuda:cuda_toolkit_found"))]

def if_cuda(then, otherwise = []):
    """The first where a toolkit was found, else the second: for programs that use the GPU if there is one."""
    return then if CUDA_FOUND else otherwise

_TOOLCHAIN = str(Label("//cuda:toolchain_type"))

def _cuda_toolchain_impl(ctx):
    return platform_common.ToolchainInfo(
        files = depset(ctx.files.files),
        nvcc = ctx.files.nvcc[0] if ctx.files.nvcc else None,
    )

cuda_toolchain = rule(
    implementation = _cuda_toolchain_impl,
    attrs = {
        "files": attr.label_list(
            allow_files = True,
            doc = "All that nvcc reads: bin, nvvm and include of the toolkit.",
        ),
        "nvcc": attr.label(allow_files = True),
    },
)

def _host_compiler(ctx):
    """The C++ compiler of the cc toolchain, its files, and those of its options that decide what links with what."""
    cc = ctx.attr._cc_toolchain[CC_COMMON.CcToolchainInfo]
    features = CC_COMMON.configure_features(
        ctx = ctx,
        cc_toolchain = cc,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = CC_COMMON.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = cc,
        use_pic = True,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts,
    )
    options = CC_COMMON.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = "c++-compile",
        variables = variables,
    )

    # Without warnings, which are about code that nvcc writes, the standard, and -D__DATE__="redacted".
    kept = ("-f", "-m", "-g", "-O", "-D", "-U", "-B", "--sysroot", "--target", "-stdlib")
    return struct(
        files = cc.all_files,
        options = [o for o in options if o.startswith(kept) and not "\"" in o],
        path = CC_COMMON.get_tool_for_action(feature_configuration = features, action_name = "c++-compile"),
    )

def _number(arch):
    return int("".join([c for c in arch.elems() if c.isdigit()]))

def _architectures(archs):
    """An option for each: its machine code and, for the lowest and the highest, PTX."""
    archs = sorted(archs, key = _number)
    return [
        "-gencode=arch=compute_%s,code=[sm_%s%s]" % (a, a, ",compute_" + a if a in (archs[0], archs[-1]) else "")
        for a in archs
    ]

def _cuda_objects_impl(ctx):
    cuda = ctx.toolchains[_TOOLCHAIN]
    host = _host_compiler(ctx)
    contexts = [dep[CC_INFO].compilation_context for dep in ctx.attr.deps]
    includes = depset(transitive = [c.includes for c in contexts] + [c.quote_includes for c in contexts])
    systems = depset(transitive = [c.system_includes for c in contexts])
    defines = depset(ctx.attr.defines, transitive = [c.defines for c in contexts])
    headers = depset(ctx.files.hdrs, transitive = [c.headers for c in contexts])
    sources = {src.basename[:-len(".cu")]: src for src in ctx.files.srcs if src.extension == "cu"}
    without = ctx.attr.without[ListInfo].values if ctx.attr.without else []
    for name in without:
        if not sources.pop(name, None):
            fail("there is no %s.cu to leave out" % name)
    archs = ctx.attr._archs[ListInfo].values
    outputs = []
    for name, src in sources.items():
        out = ctx.actions.declare_file("_objs/%s/%s.o" % (ctx.label.name, name))
        args = ctx.actions.args()
        args.add_all(["-x", "cu", "-c", src, "-o", out, "-objtemp", "-std=c++17", "-ccbin", host.path])
        args.add_all(["-t", str(len(archs))])  # the architectures side by side
        args.add_all(
            [o.replace(",", "\\,") for o in host.options + ctx.attr.host_copts],
            before_each = "-Xcompiler",
        )
        args.add_all(_architectures(archs))
        args.add_all(includes, before_each = "-I")
        args.add_all(systems, before_each = "-isystem")
        args.add_all(defines, before_each = "-D")
        args.add_all(["GPUOPT_CUDA_WITHOUT_" + name.upper() for name in without], before_each = "-D")
        args.add_all(ctx.attr.copts + ctx.attr._copts[ListInfo].values)
        ctx.actions.run(
            executable = cuda.nvcc,
            arguments = [args],
            inputs = depset(ctx.files.srcs, transitive = [headers, cuda.files, host.files]),
            outputs = [out],
            use_default_shell_env = True,  # for PATH
            mnemonic = "CudaCompile",
            progress_message = "Compiling %s" % src.short_path,
        )
        outputs.append(out)
    return [DefaultInfo(files = depset(outputs))]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "copts": attr.string_list(),
        "defines": attr.string_list(),
        "deps": attr.label_list(providers = [CC_INFO]),
        "hdrs": attr.label_list(allow_files = True),
        "host_copts": attr.string_list(),
        "srcs": attr.label_list(allow_files = [".cu", ".cuh"], mandatory = True),
        "without": attr.label(providers = [ListInfo]),
        "_archs": attr.label(default = "//cuda:archs"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_copts": attr.label(default = "//cuda:copts"),
    },
    fragments = ["cpp"],
    toolchains = [_TOOLCHAIN],
)

def cuda_library(
        name,
        srcs,
        hdrs = [],
        deps = [],
        copts = [],
        host_copts = [],
        defines = [],
        without = None,
        tags = [],
        **kwargs):
    """Compiles srcs with nvcc and archives them as an ordinary cc_library.

    Args:
      name: the library.
      srcs: .cu files, each of a name of its own, and the .cuh files that they include.
      hdrs: headers that dependents include.
      deps: cc_library or cuda_library targets.
      copts: extra options for nvcc.
      host_copts: extra options for the C++ compiler that nvcc calls.
      defines: passed to nvcc and to every dependent.
      without: a list_setting(); for each NAME in it NAME.cu is left out and GPUOPT_CUDA_WITHOUT_NAME defined.
      tags: of the library and of the compilation.
      **kwargs: passed to cc_library.
    """
    _cuda_objects(
        name = name + "_objects",
        srcs = srcs,
        hdrs = hdrs,
        copts = copts,
        defines = defines,
        host_copts = host_copts,
        target_compatible_with = REQUIRES_CUDA,
        deps = deps,
        visibility = ["//visibility:private"],
        tags = tags,
        without = without,
    )
    cc_library(
        name = name,
        srcs = [":" + name + "_objects"],
        hdrs = hdrs,
        defines = defines,
        linkstatic = True,  # one copy of the device code and of cudart
        tags = tags,
        target_compatible_with = REQUIRES_CUDA,
        deps = deps + ["@gpuopt_cuda//:cudart"],
        **kwargs
    )
