# SPDX-License-Identifier: Apache-2.0
# Libraries that the parts link. Each is a target, so that a part names what it needs and gets nothing else.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(cereal REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zmq REQUIRED IMPORTED_TARGET libzmq)

# LibTorch's own CMake config pulls in every header and library it knows; ours takes the two libraries that are used.
find_path(TRAINYARD_TORCH_INCLUDE torch/csrc/api/include/torch/torch.h PATH_SUFFIXES "" HINTS "${TORCH_ROOT}/include")
find_library(TRAINYARD_TORCH_LIBRARY torch HINTS "${TORCH_ROOT}/lib")
find_library(TRAINYARD_TORCH_CPU_LIBRARY torch_cpu HINTS "${TORCH_ROOT}/lib")
find_library(TRAINYARD_C10_LIBRARY c10 HINTS "${TORCH_ROOT}/lib")
if(TRAINYARD_TORCH_INCLUDE AND TRAINYARD_TORCH_CPU_LIBRARY AND TRAINYARD_C10_LIBRARY)
  file(STRINGS "${TRAINYARD_TORCH_INCLUDE}/torch/csrc/api/include/torch/version.h" version REGEX "TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" version "${version}")
  list(JOIN version "." TRAINYARD_TORCH_VERSION)
  add_library(trainyard::libtorch INTERFACE IMPORTED)
  target_include_directories(trainyard::libtorch SYSTEM INTERFACE
    "${TRAINYARD_TORCH_INCLUDE}" "${TRAINYARD_TORCH_INCLUDE}/torch/csrc/api/include")
  target_link_libraries(trainyard::libtorch INTERFACE
    "${TRAINYARD_TORCH_CPU_LIBRARY}" "${TRAINYARD_C10_LIBRARY}" "${TRAINYARD_TORCH_LIBRARY}")
  target_compile_definitions(trainyard::libtorch INTERFACE TRAINYARD_TORCH_VERSION="${TRAINYARD_TORCH_VERSION}")
  message(STATUS "LibTorch ${TRAINYARD_TORCH_VERSION}: ${TRAINYARD_TORCH_CPU_LIBRARY}")
else()
  set(TRAINYARD_TORCH_VERSION "none")
  message(STATUS "LibTorch not found: accelerators, strategies, models and the accelerator host are left out")
endif()

if(TRAINYARD_TESTS)
  find_package(GTest REQUIRED)
endif()
