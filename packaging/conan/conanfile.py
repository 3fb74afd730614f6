# SPDX-License-Identifier: MIT
"""The CPU backend for Conan 2. In a checkout or a release: conan create packaging/conan --build=missing"""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.4"
SOURCES = ("CMakeLists.txt", "LICENSE", "cmake/*", "gpuopt.h", "gpuopt/*", "gpuopt_impl/*")


class GpuoptConan(ConanFile):
    name = "gpuopt"
    description = "Solver kernels in C, one step per call: propagation, simplex, basis inverses, elimination, knapsacks"
    license = "MIT"
    url = "https://github.com/OWNER/gpuopt"
    topics = ("optimization", "linear-programming", "constraint-propagation", "graphical-models", "knapsack")
    package_type = "library"
    languages = "C"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "openmp": [True, False]}
    default_options = {"shared": False, "fPIC": True, "openmp": True}
    implements = ["auto_shared_fpic"]

    def set_version(self):
        header = load(self, Path(self.recipe_folder, "..", "..", "gpuopt.h"))
        parts = (re.search(rf"GPUOPT_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        self.version = ".".join(parts)

    def config_options(self):
        if self.settings.os != "Linux":  # other systems' compilers do not come with OpenMP of version 3 or later
            self.options.openmp = False

    def layout(self):
        cmake_layout(self)

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, Path(self.recipe_folder, "..", ".."), self.export_sources_folder)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["GPUOPT_OPENMP"] = bool(self.options.openmp)
        toolchain.cache_variables["GPUOPT_LIBDIR"] = ""  # packages move
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder, "licenses"))
        CMake(self).install()
        for folder in (("lib", "cmake"), ("lib", "pkgconfig"), ("share",)):  # Conan writes its own
            rmdir(self, str(Path(self.package_folder, *folder)))

    def package_info(self):
        self.cpp_info.libs = ["gpuopt"]
        if self.options.shared:
            return
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m", "dl"]
        if self.options.openmp:
            self.cpp_info.sharedlinkflags = self.cpp_info.exelinkflags = ["-fopenmp"]
