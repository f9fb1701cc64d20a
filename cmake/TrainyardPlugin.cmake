# SPDX-License-Identifier: Apache-2.0
cmake_policy(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/TrainyardKinds.cmake")
set(TRAINYARD_CMAKE_FOLDER "${CMAKE_CURRENT_LIST_DIR}")

# trainyard_plugin(KIND kind [NAME name] [TORCH] [TEST_ONLY] [USES kind...] [LIBRARIES target...] [SOURCES file...]
#                  [TEST_LIBRARIES target...] [TEST_LABELS label...])
#
# Builds the folder it is called from as one plugin: a shared library `<build>/plugins/<kind>s/<folder>.so` from every
# .cpp of the folder (tests apart), and one test program from its *_test.cpp. It links the library of its kind's layer.
# TORCH: the plugin links LibTorch. USES: it makes plugins of these kinds, so it links their layers, too, and is refused by
# a process that has other interfaces of them. TEST_ONLY: it goes to `<build>/test_plugins` and is not installed.
# The same call works outside the tree after find_package(trainyard). There it builds the test program only if
# TRAINYARD_TESTS is ON and the caller has found GTest.
function(trainyard_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "TORCH;TEST_ONLY" "KIND;NAME" "USES;LIBRARIES;SOURCES;TEST_LIBRARIES;TEST_LABELS")
  if(NOT arg_NAME)
    get_filename_component(arg_NAME "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  endif()
  if(arg_TORCH AND NOT TARGET trainyard::libtorch)
    message(STATUS "${arg_KIND} ${arg_NAME}: left out, it needs LibTorch")
    return()
  endif()
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
    list(FILTER arg_SOURCES EXCLUDE REGEX "_test\\.cpp$")
  endif()
  if(NOT arg_SOURCES)
    message(WARNING "${arg_KIND} ${arg_NAME}: left out, the folder has no .cpp")
    return()
  endif()
  set(target "trainyard_${arg_KIND}_${arg_NAME}")
  add_library(${target} SHARED ${arg_SOURCES})
  trainyard_folder_of_kind("${arg_KIND}" family)
  set(output "${CMAKE_BINARY_DIR}/plugins/${family}")
  if(arg_TEST_ONLY)
    set(output "${CMAKE_BINARY_DIR}/test_plugins/${family}")
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME "${arg_NAME}" LIBRARY_OUTPUT_DIRECTORY "${output}")
  # A plugin calls its own functions, even where another plugin in the process (one that a test links, say) has functions
  # of the same name; the entry's lambdas are such.
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions)
  trainyard_link_completely(${target})
  set(layers trainyard::core)
  foreach(kind IN ITEMS ${arg_KIND} ${arg_USES})
    trainyard_layer_of_kind("${kind}" layer)
    list(APPEND layers ${layer})
  endforeach()
  target_link_libraries(${target} PUBLIC ${layers} $<$<BOOL:${arg_TORCH}>:trainyard::libtorch> ${arg_LIBRARIES})
  list(JOIN arg_USES "," uses)
  trainyard_interfaces(${target} plugin "${arg_KIND},${uses}")
  # A project that chooses no build type would get a plugin without optimisation, and wonder why it is slow.
  target_compile_options(${target} PRIVATE $<$<CONFIG:>:-O2>)
  set(precompiled trainyard_pch)
  if(arg_TORCH)
    set(precompiled trainyard_pch_torch)
  endif()
  if(TARGET ${precompiled})  # In the tree only. Equal flags are its condition, so no target's own macro.
    set_target_properties(${target} PROPERTIES DEFINE_SYMBOL "")
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
  if(NOT arg_TEST_ONLY)
    trainyard_own_headers_first(${target} "${family}/${arg_NAME}")
  endif()
  if(NOT arg_TEST_ONLY)
    install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/trainyard/plugins/${family}")
  endif()

  file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  if(TRAINYARD_TESTS AND tests)
    set(torch "")
    if(arg_TORCH)
      set(torch TORCH)
    endif()
    trainyard_test(${target}_test ${torch} SOURCES ${tests} LIBRARIES ${target} trainyard::testing ${arg_TEST_LIBRARIES}
      LABELS ${arg_TEST_LABELS})
  elseif(NOT TRAINYARD_TESTS AND NOT CMAKE_PROJECT_NAME STREQUAL "trainyard" AND (tests OR arg_TEST_LIBRARIES))
    message(STATUS "${arg_KIND} ${arg_NAME}: its tests are not built; -DTRAINYARD_TESTS=ON builds them")
  endif()
endfunction()

# trainyard_link_completely(target): what a library calls and does not link is an error where it is linked, not where it is
# loaded. The sanitizers' own functions come with the program, so not with them.
function(trainyard_link_completely target)
  if(NOT "${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize" AND NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# trainyard_interfaces(target form kinds)
# Writes into the target which interfaces of plugins it was built against; see TrainyardInterfaces.cmake.
function(trainyard_interfaces target form kinds)
  if(CMAKE_PROJECT_NAME STREQUAL "trainyard")
    set(root "${CMAKE_SOURCE_DIR}")
  else()
    set(root "${TRAINYARD_INCLUDE_FOLDER}")
  endif()
  string(REGEX REPLACE ",$" "" kinds "${kinds}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_interfaces.cpp")
  set(script "${TRAINYARD_CMAKE_FOLDER}/TrainyardInterfaces.cmake")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${root}" "-DKINDS=${kinds}" "-DOUTPUT=${output}" "-DDEPENDENCIES=${output}.d"
      "-DFORM=${form}" -P "${script}"
    DEPENDS "${script}" "${TRAINYARD_CMAKE_FOLDER}/TrainyardHeaders.cmake" "${TRAINYARD_CMAKE_FOLDER}/TrainyardKinds.cmake"
    DEPFILE "${output}.d" COMMENT "Interfaces of ${target}" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
  set_source_files_properties("${output}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# trainyard_own_headers_first(target folder)
# A plugin includes its headers from the root of the tree ("models/mlp/mlp.h"). Outside the tree that must mean the files
# beside its CMakeLists.txt, not those of an installed plugin of the same name.
function(trainyard_own_headers_first target folder)
  if("${CMAKE_CURRENT_SOURCE_DIR}" MATCHES "/${folder}$")
    return()
  endif()
  set(root "${CMAKE_CURRENT_BINARY_DIR}/include")
  get_filename_component(parent "${root}/${folder}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/${folder}" SYMBOLIC)
  # Its tests include the same headers.
  target_include_directories(${target} BEFORE PUBLIC "$<BUILD_INTERFACE:${root}>")
endfunction()

# trainyard_test(name [TORCH] SOURCES file... [LIBRARIES target...] [LABELS label...])
# One GoogleTest program; every test in it is a ctest of its own. TORCH: the sources include LibTorch.
function(trainyard_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;LIBRARIES;LABELS")
  add_executable(${name} ${arg_SOURCES})
  # Never several files at a time: their helpers may have the same names.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests" UNITY_BUILD OFF)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE -O0)  # A test runs once and is compiled often.
  set(precompiled trainyard_pch_tests)
  if(arg_TORCH)
    set(precompiled trainyard_pch_torch_tests)
  endif()
  if(TARGET ${precompiled})  # In the tree only, and above the layer that defines it.
    target_precompile_headers(${name} REUSE_FROM ${precompiled})
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120 LABELS "${arg_LABELS}")
endfunction()

# trainyard_precompile_for_tests(target LIBRARIES target... HEADERS header...)
# A precompiled header with GoogleTest and these headers, which trainyard_test() reuses.
function(trainyard_precompile_for_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;HEADERS")
  add_library(${target} STATIC "${CMAKE_SOURCE_DIR}/core/process/precompiled.cpp")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gmock)
  # Compiled like a test, which is an executable: equal flags are the condition.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIE -O0)
  target_precompile_headers(${target} PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${arg_HEADERS})
endfunction()

# trainyard_family(): every subfolder with a CMakeLists.txt is a plugin of this family.
function(trainyard_family)
  file(GLOB folders CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
  foreach(folder ${folders})
    get_filename_component(folder "${folder}" DIRECTORY)
    add_subdirectory("${folder}")
  endforeach()
endfunction()

# trainyard_contract_test(KIND kind [TORCH] [LIBRARIES target...])
# The contract of a family: contract_test.cpp runs over every plugin of the kind that the build makes. A plugin that needs
# parameters or data to be tried says so in its own folder, in testing/contract.cpp.
function(trainyard_contract_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "TORCH" "KIND" "LIBRARIES")
  set(torch "")
  if(arg_TORCH)
    set(torch TORCH)
  endif()
  file(GLOB cases CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/testing/contract.cpp")
  set(target "trainyard_${arg_KIND}_contract_test")
  trainyard_test(${target} ${torch} SOURCES contract_test.cpp ${cases} LIBRARIES ${arg_LIBRARIES})
  get_property(folders DIRECTORY PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    get_filename_component(folder "${folder}" NAME)
    if(TARGET trainyard_${arg_KIND}_${folder})
      add_dependencies(${target} trainyard_${arg_KIND}_${folder})
    endif()
  endforeach()
endfunction()
