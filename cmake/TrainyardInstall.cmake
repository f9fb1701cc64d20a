# SPDX-License-Identifier: Apache-2.0
# What an out-of-tree plugin needs: the libraries, the public headers, the CMake package with trainyard_plugin().
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/trainyard")

# Read from the headers at the time of the installation, so that no include is missing and no list has to follow.
get_property(public_headers GLOBAL PROPERTY TRAINYARD_PUBLIC_HEADERS)
install(CODE "
  include(\"${CMAKE_CURRENT_LIST_DIR}/TrainyardHeaders.cmake\")
  trainyard_headers_within(\"${CMAKE_SOURCE_DIR}\" ${public_headers} RESULT headers)
  foreach(header IN LISTS headers)
    get_filename_component(folder \"\${header}\" DIRECTORY)
    file(INSTALL \"${CMAKE_SOURCE_DIR}/\${header}\"
      DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/trainyard/\${folder}\")
  endforeach()")
set_target_properties(trainyard_options PROPERTIES EXPORT_NAME options)
target_include_directories(trainyard_options INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/trainyard>")
install(EXPORT trainyard-targets NAMESPACE trainyard:: DESTINATION "${package_dir}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/trainyard-config.cmake.in"
  "${CMAKE_BINARY_DIR}/trainyard-config.cmake" INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/trainyard-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/trainyard-config.cmake" "${CMAKE_BINARY_DIR}/trainyard-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/TrainyardPlugin.cmake" "${CMAKE_CURRENT_LIST_DIR}/TrainyardKinds.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/TrainyardHeaders.cmake" "${CMAKE_CURRENT_LIST_DIR}/TrainyardInterfaces.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/TrainyardDependencies.cmake"
  DESTINATION "${package_dir}")

# For build systems other than CMake: the compiler's and the linker's flags of the torch-free layers.
configure_file("${CMAKE_CURRENT_LIST_DIR}/trainyard.pc.in" "${CMAKE_BINARY_DIR}/trainyard.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/trainyard.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
