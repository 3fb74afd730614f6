# SPDX-License-Identifier: MIT
"""Builds the wheel: compiles the C library and generates the declarations (generate.py).

The C sources are in the folder above, or in csrc/ of a source distribution. CC and CFLAGS are those of any C build.
GPUOPT_SYSTEM_LIBRARY=1 compiles no library: the package then loads the system's one, as a distribution wants it.
"""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).parent.resolve()
SOURCE = HERE / "csrc" if (HERE / "csrc").exists() else HERE.parent
PARTS = ["gpuopt.h", "gpuopt", "gpuopt_impl", "LICENSE"]
EXPORT = 'extern __attribute__((visibility("default")))'

sys.path.insert(0, str(HERE))
from generate import generate  # noqa: E402


def version():
    header = (SOURCE / "gpuopt.h").read_text()
    return ".".join(re.search(rf"GPUOPT_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def system_library():
    """The shared library's name, which ends in the version of its binary interface; as tools/version.sh --abi."""
    major, minor, _ = version().split(".")
    return f"libgpuopt.so.0.{minor}" if major == "0" else f"libgpuopt.so.{major}"


def compiler():
    return shlex.split(os.environ.get("CC", "cc"))


def has_openmp():
    """Whether the compiler builds a library with OpenMP; Apple's does not."""
    with tempfile.TemporaryDirectory() as folder:
        command = compiler() + ["-fopenmp", "-shared", "-fPIC", "-x", "c", os.devnull, "-o", f"{folder}/library"]
        return subprocess.run(command, capture_output=True).returncode == 0


def compile_library(folder):
    suffix = "dylib" if platform.system() == "Darwin" else "so"
    command = compiler() + ["-O2", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-DNDEBUG"]
    command += [f"-DGPUOPT_API={EXPORT}", "-DGPUOPT_LOAD_CUDA", f"-I{SOURCE}"]
    command += ["-fopenmp"] if has_openmp() else []
    command += shlex.split(os.environ.get("CFLAGS", ""))
    command += [str(SOURCE / "gpuopt_impl" / "gpuopt.c"), "-o", str(folder / f"libgpuopt.{suffix}"), "-lm"]
    command += ["-ldl"] if platform.system() == "Linux" else []
    print(shlex.join(command))
    subprocess.run(command, check=True)


class Build(build_py):
    """Adds the library and the generated modules to the package; for an editable installation, in place."""

    def run(self):
        super().run()
        folder = HERE / "gpuopt" if self.editable_mode else Path(self.build_lib) / "gpuopt"
        system = bool(os.environ.get("GPUOPT_SYSTEM_LIBRARY"))
        generate(SOURCE, folder, compiler(), system_library() if system else None)
        if not system:
            compile_library(folder)


class Wheel(bdist_wheel):
    """Any Python 3, but one platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Source(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, [*files, "generate.py"])
        for part in PARTS:
            copy = shutil.copytree if (SOURCE / part).is_dir() else shutil.copy
            (Path(base_dir) / "csrc").mkdir(exist_ok=True)
            copy(SOURCE / part, Path(base_dir) / "csrc" / part)


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(
    version=version(),
    cmdclass={"build_py": Build, "bdist_wheel": Wheel, "sdist": Source},
    distclass=Binary,
)
