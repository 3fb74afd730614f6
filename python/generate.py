# SPDX-License-Identifier: MIT
"""Generates the binding's declarations from the C headers: nothing of them is listed in the package.

    python generate.py SOURCE FOLDER [CC...]

SOURCE is the folder with gpuopt.h. FOLDER receives

    _cffi.py        all types and functions, for cffi in ABI mode
    _generated.py   an IntEnum for each enum, a frozen dataclass for each struct that a step fills in, both with the
                    headers' comments as docstrings, and the name of the system's library, or None: the package has its
                    own
"""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import cffi

NOTE = "# Generated from the C headers by generate.py.\n"


def headers_of(source):
    return ["gpuopt.h"] + sorted(f"gpuopt/{path.name}" for path in (source / "gpuopt").glob("*.h"))


def declarations(source, compiler):
    """The headers' declarations, without comments, macros and those of the C library."""
    headers = headers_of(source)
    text = "".join(f'#include "{header}"\n' for header in headers)
    command = compiler + ["-E", "-P", "-DGPUOPT_API=", f"-I{source}", "-x", "c", "-"]
    text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text[text.index("int gpuopt_version_number") :]


def comments(source):
    """The comments of all enums and structs: {name: (its own, [(names, comment)])}. The names are the constants or
    members that the comment is about; none: it is about those that follow."""
    text = "\n".join((source / header).read_text() for header in headers_of(source))
    pattern = r"(?:/\*((?:(?!\*/).)*)\*/\n)?typedef (struct|enum) (\w+) \{(.*?)\} \3;"
    return {
        name: (plain(own), members_of(body, ";" if kind == "struct" else ","))
        for own, kind, name, body in re.findall(pattern, text, re.S)
    }


def plain(comment):
    return " ".join(re.sub(r"^\s*\* ?", "", comment, flags=re.M).split())


def members_of(body, separator):
    result, above = [], ""  # the comment on lines of its own
    for code, comment in re.findall(r"(.*?)(?:/\*(.*?)\*/|\Z)", body, re.S):
        declared = [names_of(part) for part in code.split(separator) if part.strip()]
        beside = bool(code.split("\n")[-1].strip())
        for names in declared:
            own = plain(comment) if beside and names is declared[-1] else ""
            result += [([], above)] if above and own else []
            result.append((names, own or above))
            above = ""
        if comment and not beside:
            above = plain(comment)
    return result


def names_of(declaration):
    """int64_t a, b: a and b. Of a function pointer, which Python has not, any words."""
    words = [re.split(r"[=\[(]", part)[0].split() for part in declaration.split(",")]
    return [word[-1].lstrip("*") for word in words if word]


def docstring(name, documented, shown):
    """Lines of a docstring; shown: the names of constants or members in Python by those in C."""
    own, members = documented.get(name, ("", []))
    lines = [name] + ([""] + textwrap.wrap(own, 112) if own else []) + [""]
    width = max(map(len, shown.values()), default=0)
    for names, comment in members:
        label = ", ".join(shown[name] for name in names if name in shown)
        if not names:
            lines += textwrap.wrap(comment, 112)
        elif label:
            start = f"    {label:{width}}  "
            lines += textwrap.wrap(start + comment, 112, subsequent_indent=" " * (width + 6)) or [start.rstrip()]
    text = "\n".join(lines).strip().replace("\\", "\\\\").replace('"', '\\"')
    return textwrap.indent(f'"""{text}\n"""', "    ").split("\n") + [""]


def class_name(name):
    """SimplexInfo for gpuopt_simplex_info."""
    return "".join(part.capitalize() for part in name.split("_")[1:])


def enum_class(name, constants, documented):
    names = list(constants)
    prefix = os.path.commonprefix(names)
    prefix = prefix[: prefix.rindex("_") + 1]
    shown = {name: name[len(prefix) :] for name in names}
    lines = [f"class {class_name(name)}(IntEnum):", *docstring(name, documented, shown)]
    lines += [
        f"    {name[len(prefix) :]} = {value}" for name, value in sorted(constants.items(), key=lambda item: item[1])
    ]
    return lines


def member_type(ctype):
    """The Python type of a struct's member, or None for one that has none, such as a pointer."""
    if ctype.kind == "enum":
        return class_name(ctype.cname)
    if ctype.kind == "array":
        item = member_type(ctype.item)
        return item and f"Tuple[{item}, ...]"
    if ctype.kind == "struct":
        return class_name(ctype.cname)
    if ctype.kind == "primitive":
        return "float" if ctype.cname == "double" else "int"
    return None


def is_record(name, ctype):
    """Whether a struct holds plain values; the pointers of an info belong to the library."""
    return (
        bool(ctype.fields)
        and not name.endswith("_desc")
        and (name.endswith("_info") or all(member_type(f.type) for _, f in ctype.fields))
    )


def record_class(name, ctype, documented):
    members = [(key, member_type(field.type)) for key, field in ctype.fields if key != "struct_size"]
    shown = {key: key for key, kind in members if kind}
    lines = ["@dataclass(frozen=True)", f"class {class_name(name)}:", *docstring(name, documented, shown)]
    return lines + [f"    {key}: {kind}" for key, kind in members if kind]


def generate(source, folder, compiler, library=None):
    text = declarations(source, compiler)
    ffi = cffi.FFI()
    ffi.cdef(text)
    ffi.set_source("gpuopt._cffi", None)
    ffi.emit_python_code(str(folder / "_cffi.py"))

    documented = comments(source)
    enums, records = {}, {}
    for name in ffi.list_types()[0]:
        ctype = ffi.typeof(name)
        if ctype.kind == "enum":
            enums[class_name(name)] = enum_class(name, ctype.relements, documented)
        elif ctype.kind == "struct" and is_record(name, ctype):
            records[class_name(name)] = record_class(name, ctype, documented)
    lines = ["from dataclasses import dataclass", "from enum import IntEnum", "from typing import Tuple"]
    lines += ["", f"__all__ = {list(enums) + list(records)}", f"LIBRARY = {library!r}"]
    for block in [*enums.values(), *records.values()]:
        lines += ["", "", *block]
    (folder / "_generated.py").write_text(NOTE + "from __future__ import annotations\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    generate(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or ["cc"])
