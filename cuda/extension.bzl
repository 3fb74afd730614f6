# SPDX-License-Identifier: MIT
"""For a MODULE.bazel what cuda_configure() is for a WORKSPACE. Bazel 4 and 5 never load this file."""

load(":configure.bzl", "cuda_repository")

def _cuda_impl(ctx):
    # The root module comes first.
    paths = [toolkit.path for module in ctx.modules for toolkit in module.tags.toolkit]
    cuda_repository(name = "gpuopt_cuda", path = paths[0] if paths else "")

cuda = module_extension(
    implementation = _cuda_impl,
    tag_classes = {
        "toolkit": tag_class(
            attrs = {"path": attr.string(mandatory = True)},
            doc = "The toolkit's folder; without this tag it is looked for as by cuda_configure().",
        ),
    },
)
