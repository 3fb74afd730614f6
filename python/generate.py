# SPDX-License-Identifier: MIT
"""Generates the binding's declarations from the C headers: nothing of them is listed in the package.

    python generate.py SOURCE FOLDER [CC...]

SOURCE is the folder with gpuopt.h. FOLDER receives

    _cffi.py        all types and functions, for cffi in ABI mode
    _generated.py   an IntEnum for each enum, a frozen dataclass for each struct that a step fills in, and the name of
                    the system's library, or None: the package has its own
"""

import os
import subprocess
import sys
from pathlib import Path

import cffi

NOTE = "# Generated from the C headers by generate.py.\n"


def declarations(source, compiler):
    """The headers' declarations, without comments, macros and those of the C library."""
    headers = ["gpuopt.h"] + sorted(f"gpuopt/{path.name}" for path in (source / "gpuopt").glob("*.h"))
    text = "".join(f'#include "{header}"\n' for header in headers)
    command = compiler + ["-E", "-P", "-DGPUOPT_API=", f"-I{source}", "-x", "c", "-"]
    text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text[text.index("int gpuopt_version_number") :]


def class_name(name):
    """SimplexInfo for gpuopt_simplex_info."""
    return "".join(part.capitalize() for part in name.split("_")[1:])


def enum_class(name, constants):
    names = list(constants)
    prefix = os.path.commonprefix(names)
    prefix = prefix[: prefix.rindex("_") + 1]
    lines = [f"class {class_name(name)}(IntEnum):", f'    """{name}"""', ""]
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


def record_class(name, ctype):
    members = [(key, member_type(field.type)) for key, field in ctype.fields if key != "struct_size"]
    lines = ["@dataclass(frozen=True)", f"class {class_name(name)}:", f'    """{name}"""', ""]
    return lines + [f"    {key}: {kind}" for key, kind in members if kind]


def generate(source, folder, compiler, library=None):
    text = declarations(source, compiler)
    ffi = cffi.FFI()
    ffi.cdef(text)
    ffi.set_source("gpuopt._cffi", None)
    ffi.emit_python_code(str(folder / "_cffi.py"))

    enums, records = {}, {}
    for name in ffi.list_types()[0]:
        ctype = ffi.typeof(name)
        if ctype.kind == "enum":
            enums[class_name(name)] = enum_class(name, ctype.relements)
        elif ctype.kind == "struct" and is_record(name, ctype):
            records[class_name(name)] = record_class(name, ctype)
    lines = ["from dataclasses import dataclass", "from enum import IntEnum", "from typing import Tuple"]
    lines += ["", f"__all__ = {list(enums) + list(records)}", f"LIBRARY = {library!r}"]
    for block in [*enums.values(), *records.values()]:
        lines += ["", "", *block]
    (folder / "_generated.py").write_text(NOTE + "from __future__ import annotations\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    generate(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or ["cc"])
