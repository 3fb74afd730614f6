# SPDX-License-Identifier: MIT
"""Repositories that Bazel 4 asks for even when nothing of them is used."""

def _installed_or_stub_impl(ctx):
    source = ctx.path(ctx.attr.path)
    if source.exists:
        for entry in source.readdir():
            ctx.symlink(entry, entry.basename)
    else:
        ctx.file("WORKSPACE", "")
        ctx.file("BUILD", "")

installed_or_stub = repository_rule(
    implementation = _installed_or_stub_impl,
    attrs = {"path": attr.string(mandatory = True)},
    local = True,
)
