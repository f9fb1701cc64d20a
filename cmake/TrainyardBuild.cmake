# SPDX-License-Identifier: Apache-2.0
# How everything is compiled: the language, the warnings, where results go.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# What gains from -O3 are a few kernels, which ask for it themselves; everywhere else it costs build time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# Debug information of templates doubles build time and size; line tables are enough for backtraces.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
# A build type for the sanitizers: with -O2, their checks make the compiler take more than twice as long.
set(CMAKE_CXX_FLAGS_SANITIZED "-O1 -g1 -fno-omit-frame-pointer -DNDEBUG")

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# An installation finds its own libraries wherever it lies: from bin, from lib, from libexec/trainyard and from the plugins.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN;$ORIGIN/../../${CMAKE_INSTALL_LIBDIR};$ORIGIN/../../..")
# A LibTorch that is not the system's stays where it is.
if(TORCH_ROOT)
  get_filename_component(TRAINYARD_TORCH_ROOT "${TORCH_ROOT}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
  list(APPEND CMAKE_INSTALL_RPATH "${TRAINYARD_TORCH_ROOT}/lib")
endif()

option(TRAINYARD_WERROR "Treat warnings as errors" OFF)
add_library(trainyard_options INTERFACE)
target_compile_features(trainyard_options INTERFACE cxx_std_20)
target_include_directories(trainyard_options INTERFACE "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>")
target_compile_definitions(trainyard_options INTERFACE
  TRAINYARD_VERSION="${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}" SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)
target_compile_options(trainyard_options INTERFACE
  -Wall -Wextra -Wno-missing-field-initializers $<$<BOOL:${TRAINYARD_WERROR}>:-Werror>)

find_program(TRAINYARD_CCACHE ccache)
if(TRAINYARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TRAINYARD_CCACHE}")
endif()
find_program(TRAINYARD_MOLD mold)
if(TRAINYARD_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
