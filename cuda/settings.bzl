# SPDX-License-Identifier: MIT
"""Build settings: what a command line or a .bazelrc says with --@gpuopt//cuda:NAME=a,b."""

ListInfo = provider(doc = "The value of a build setting.", fields = ["values"])

def _list_setting_impl(ctx):
    return ListInfo(values = ctx.build_setting_value)

list_setting = rule(
    implementation = _list_setting_impl,
    build_setting = config.string_list(flag = True),
    doc = "A list of words, separated by commas on the command line.",
)
