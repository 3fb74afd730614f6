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

def _word_setting_impl(ctx):
    if ctx.build_setting_value not in ctx.attr.values:
        fail("%s is %s, not one of %s" % (ctx.label, ctx.build_setting_value, ", ".join(ctx.attr.values)))
    return []

word_setting = rule(
    implementation = _word_setting_impl,
    attrs = {"values": attr.string_list(mandatory = True)},
    build_setting = config.string(flag = True),
    doc = "One of some words.",
)
