# What an out-of-tree plugin needs: the libraries, every header, the CMake package with trainyard_plugin().
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/trainyard")

foreach(folder messages core tensors collectives accelerators strategies models datasets transforms components launch)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trainyard"
    FILES_MATCHING PATTERN "*.h")
endforeach()
set_target_properties(trainyard_options PROPERTIES EXPORT_NAME options)
target_include_directories(trainyard_options INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/trainyard>")
install(EXPORT trainyard-targets NAMESPACE trainyard:: DESTINATION "${package_dir}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/trainyard-config.cmake.in"
  "${CMAKE_BINARY_DIR}/trainyard-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/trainyard-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/trainyard-config.cmake" "${CMAKE_BINARY_DIR}/trainyard-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/TrainyardPlugin.cmake" "${CMAKE_CURRENT_LIST_DIR}/TrainyardDependencies.cmake"
  DESTINATION "${package_dir}")
