# SPDX-License-Identifier: Apache-2.0
# CUDA, for the plugins that call it. Headers, the runtime library and the compiler of the toolkit are all that is needed;
# FindCUDAToolkit and CMake's own support of the language would want more, which not every toolkit has.

# trainyard_find_cuda(): looks for the toolkit, in CUDAToolkit_ROOT, in CUDA_HOME and in its usual folder. Sets
# TRAINYARD_CUDA_INCLUDE, TRAINYARD_CUDART_LIBRARY and TRAINYARD_NVCC in the cache; what is not there is false.
function(trainyard_find_cuda)
  set(roots "${CUDAToolkit_ROOT}" "$ENV{CUDA_HOME}" /usr/local/cuda)
  find_path(TRAINYARD_CUDA_INCLUDE cuda_runtime_api.h HINTS ${roots} PATH_SUFFIXES include)
  find_library(TRAINYARD_CUDART_LIBRARY cudart HINTS ${roots} PATH_SUFFIXES lib64 lib)
  find_program(TRAINYARD_NVCC nvcc HINTS ${roots} PATH_SUFFIXES bin)
  set(TRAINYARD_CUDA_ARCHITECTURES "all-major" CACHE STRING "GPUs for which kernels are compiled: an argument of nvcc's option -arch")
endfunction()

# trainyard_cuda_kernels(target): compiles the .cu files of the folder it is called from with nvcc, and adds them to the
# target. Products and sums are not fused, so that float results have the same bits as on the processor.
function(trainyard_cuda_kernels target)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*.cu")
  foreach(source IN LISTS sources)
    set(kernel "${CMAKE_CURRENT_BINARY_DIR}/${source}.o")
    add_custom_command(OUTPUT "${kernel}"
      COMMAND "${TRAINYARD_NVCC}" -std=c++20 -O3 --fmad=false "-arch=${TRAINYARD_CUDA_ARCHITECTURES}" -ccbin "${CMAKE_CXX_COMPILER}"
        -Xcompiler -fPIC "-I${CMAKE_SOURCE_DIR}" "-I${TRAINYARD_CUDA_INCLUDE}"
        -MD -MF "${kernel}.d" -c "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${kernel}"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}" DEPFILE "${kernel}.d" COMMENT "Compiling ${source}" VERBATIM)
    set_source_files_properties("${kernel}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE "${kernel}")
  endforeach()
endfunction()

# trainyard_uses_cuda(target...): these targets, as far as they exist, include the headers of CUDA.
function(trainyard_uses_cuda)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      target_include_directories(${target} SYSTEM PRIVATE "${TRAINYARD_CUDA_INCLUDE}")
    endif()
  endforeach()
endfunction()
