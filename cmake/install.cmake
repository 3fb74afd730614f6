# SPDX-License-Identifier: MIT
#
# What is installed: the headers, the libraries, and what CMake and pkg-config read. For CMakeLists.txt.
include(CMakePackageConfigHelpers)
set(GPUOPT_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/gpuopt")

file(GLOB GPUOPT_LAYERS CONFIGURE_DEPENDS gpuopt/*.h)
install(FILES gpuopt.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES ${GPUOPT_LAYERS} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gpuopt")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(TARGETS gpuopt EXPORT gpuopt)
install(EXPORT gpuopt FILE gpuopt-targets.cmake NAMESPACE gpuopt:: DESTINATION "${GPUOPT_CMAKE_DIR}")
if(GPUOPT_HAS_CUDA)
  install(TARGETS gpuopt_cuda EXPORT gpuopt_cuda)
  install(EXPORT gpuopt_cuda FILE gpuopt-cuda-targets.cmake NAMESPACE gpuopt:: DESTINATION "${GPUOPT_CMAKE_DIR}")
endif()

if(GPUOPT_VERSION MATCHES "^0\\.")
  set(GPUOPT_COMPATIBILITY SameMinorVersion)
else()
  set(GPUOPT_COMPATIBILITY SameMajorVersion)
endif()
write_basic_package_version_file(
  "${CMAKE_CURRENT_BINARY_DIR}/gpuopt-config-version.cmake" COMPATIBILITY ${GPUOPT_COMPATIBILITY})
configure_package_config_file(
  cmake/gpuopt-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/gpuopt-config.cmake"
  INSTALL_DESTINATION "${GPUOPT_CMAKE_DIR}")
install(
  FILES
    "${CMAKE_CURRENT_BINARY_DIR}/gpuopt-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/gpuopt-config-version.cmake"
  DESTINATION "${GPUOPT_CMAKE_DIR}")

# Where there is only a static library, it needs the private libraries without --static, too.
set(GPUOPT_PC_LIBS "")
if(GPUOPT_TYPE STREQUAL STATIC_LIBRARY)
  set(GPUOPT_PC_LIBS "${GPUOPT_PC_LIBS_PRIVATE}")
endif()
configure_file(cmake/gpuopt.pc.in gpuopt.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/gpuopt.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(GPUOPT_HAS_CUDA)
  configure_file(cmake/gpuopt_cuda.pc.in gpuopt_cuda.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/gpuopt_cuda.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
