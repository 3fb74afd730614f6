# SPDX-License-Identifier: MIT
#
# Reads the version from gpuopt.h: GPUOPT_VERSION, GPUOPT_MINOR_VERSION (major and minor), and GPUOPT_ABI, which ends
# the names of the shared libraries. While the major version is 0, each minor version may break programs.
file(READ "${CMAKE_CURRENT_LIST_DIR}/../gpuopt.h" GPUOPT_HEADER LIMIT 16384)
set(GPUOPT_VERSION "")
foreach(PART IN ITEMS MAJOR MINOR PATCH)
  string(REGEX MATCH "\n#define GPUOPT_VERSION_${PART} ([0-9]+)" FOUND "${GPUOPT_HEADER}")
  list(APPEND GPUOPT_VERSION ${CMAKE_MATCH_1})
endforeach()
string(REPLACE ";" "." GPUOPT_VERSION "${GPUOPT_VERSION}")
string(REGEX REPLACE "\\.[0-9]+$" "" GPUOPT_MINOR_VERSION "${GPUOPT_VERSION}")
if(GPUOPT_VERSION MATCHES "^0\\.")
  set(GPUOPT_ABI "${GPUOPT_MINOR_VERSION}")
else()
  string(REGEX REPLACE "\\..*" "" GPUOPT_ABI "${GPUOPT_VERSION}")
endif()
