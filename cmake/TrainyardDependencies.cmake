# SPDX-License-Identifier: Apache-2.0
# Libraries that the parts link. Each is a target, so that a part names what it needs and gets nothing else.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(cereal REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zmq REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)

# LibTorch's own CMake config pulls in every header and library it knows; ours takes what is used. TORCH_ROOT is a folder
# with `include` and `lib`, such as that of an installed package `torch`.
find_path(TRAINYARD_TORCH_INCLUDE torch/csrc/api/include/torch/torch.h PATH_SUFFIXES "" HINTS "${TORCH_ROOT}/include")
find_library(TRAINYARD_TORCH_CPU_LIBRARY torch_cpu HINTS "${TORCH_ROOT}/lib")
if(TRAINYARD_TORCH_INCLUDE AND TRAINYARD_TORCH_CPU_LIBRARY)
  # The other libraries are beside it: two versions of LibTorch in one process do not work.
  get_filename_component(torch_libraries "${TRAINYARD_TORCH_CPU_LIBRARY}" DIRECTORY)
  find_library(TRAINYARD_C10_LIBRARY c10 PATHS "${torch_libraries}" NO_DEFAULT_PATH REQUIRED)
  # Contains nothing, but loads the part for the GPU if there is one.
  find_library(TRAINYARD_TORCH_LIBRARY torch PATHS "${torch_libraries}" NO_DEFAULT_PATH)
  # Packages of PyPI have headers of other libraries, such as fmt, beside their own. Those of the system have to be found
  # instead, so that the headers of LibTorch get a folder for themselves.
  set(torch_include "${TRAINYARD_TORCH_INCLUDE}")
  if(EXISTS "${TRAINYARD_TORCH_INCLUDE}/fmt" AND NOT TRAINYARD_TORCH_INCLUDE STREQUAL "/usr/include")
    set(torch_include "${CMAKE_BINARY_DIR}/torch_include")
    file(MAKE_DIRECTORY "${torch_include}")
    foreach(folder IN ITEMS ATen c10 caffe2 torch)
      file(CREATE_LINK "${TRAINYARD_TORCH_INCLUDE}/${folder}" "${torch_include}/${folder}" SYMBOLIC)
    endforeach()
  endif()
  set(torch_version_header "${torch_include}/torch/headeronly/version.h")
  if(NOT EXISTS "${torch_version_header}")  # Before LibTorch 2.9.
    set(torch_version_header "${torch_include}/torch/csrc/api/include/torch/version.h")
  endif()
  file(STRINGS "${torch_version_header}" version REGEX "TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" version "${version}")
  list(JOIN version "." TRAINYARD_TORCH_VERSION)
  add_library(trainyard::libtorch INTERFACE IMPORTED)
  target_include_directories(trainyard::libtorch SYSTEM INTERFACE
    "${torch_include}" "${torch_include}/torch/csrc/api/include")
  target_link_libraries(trainyard::libtorch INTERFACE
    "${TRAINYARD_TORCH_CPU_LIBRARY}" "${TRAINYARD_C10_LIBRARY}")
  if(TRAINYARD_TORCH_LIBRARY)
    target_link_libraries(trainyard::libtorch INTERFACE "${TRAINYARD_TORCH_LIBRARY}")
  endif()
  target_compile_definitions(trainyard::libtorch INTERFACE TRAINYARD_TORCH_VERSION="${TRAINYARD_TORCH_VERSION}")
  message(STATUS "LibTorch ${TRAINYARD_TORCH_VERSION}: ${TRAINYARD_TORCH_CPU_LIBRARY}")
else()
  set(TRAINYARD_TORCH_VERSION "none")
  message(STATUS "LibTorch not found: accelerators, strategies, models and the accelerator host are left out")
endif()

if(TRAINYARD_TESTS)
  find_package(GTest REQUIRED)
endif()
