# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/TrainyardHeaders.cmake")

# trainyard_layer(name [RECURSIVE] LINKS target... [PRIVATE target...] [EXCLUDE regex...] [PRECOMPILE header...]
#                 [PUBLIC_HEADERS glob...])
#
# The folder it is called from as one layer of docs/architecture.md, and so as one shared library `trainyard_<name>`, alias
# and exported name `trainyard::<name>`, of every .cpp in it (tests and their helpers apart). RECURSIVE: of its subfolders,
# too. A folder without any .cpp is an interface library. LINKS is what the layer may include: tools/check_layers.py holds
# the one against the other.
#
# PUBLIC_HEADERS is the list of what is installed: whatever a plugin author includes. What those headers include themselves
# is added to it, from whatever layer; nothing else is installed.
function(trainyard_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RECURSIVE" "" "LINKS;PRIVATE;EXCLUDE;PRECOMPILE;PUBLIC_HEADERS")
  set(glob GLOB)
  if(arg_RECURSIVE)
    set(glob GLOB_RECURSE)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "(_test|/testing/[a-z_0-9]+)\\.cpp$")
  foreach(expression IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${expression}")
  endforeach()

  set(target "trainyard_${name}")
  if(sources)
    add_library(${target} SHARED ${sources})
    target_link_libraries(${target} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE})
    trainyard_link_completely(${target})
    if(arg_PRECOMPILE)  # Parsed once: these cost more than most of our files.
      target_precompile_headers(${target} PRIVATE ${arg_PRECOMPILE})
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_LINKS})
  endif()
  add_library(trainyard::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT trainyard-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  trainyard_public_headers(${arg_PUBLIC_HEADERS})
endfunction()

# trainyard_public_headers(glob...): these headers of the folder it is called from are installed.
function(trainyard_public_headers)
  foreach(pattern IN LISTS ARGN)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
    if(NOT headers)
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}: the public header ${pattern} does not exist")
    endif()
    set_property(GLOBAL APPEND PROPERTY TRAINYARD_PUBLIC_HEADERS ${headers})
  endforeach()
endfunction()
