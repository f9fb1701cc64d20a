# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=folder -DKINDS=kind,... -DOUTPUT=file.cpp -DDEPENDENCIES=file.d -DFORM=plugin|host -P TrainyardInterfaces.cmake
#
# Writes what a plugin of these kinds was built against, or (FORM=host) what a process can load: for each kind, a hash over
# its interface. That is every header in the kind's folder and all that those include, as they lie below ROOT while the
# plugin is built. So it does not matter where the headers came from, or whether anybody remembered to raise a version.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/TrainyardHeaders.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/TrainyardKinds.cmake")

string(REPLACE "," ";" kinds "${KINDS}")
set(words "")
set(all_headers "")
foreach(kind IN LISTS kinds)
  trainyard_interface_of_kind("${ROOT}" "${kind}" headers)
  trainyard_headers_within("${ROOT}" ${headers} RESULT headers TEXT text)
  string(SHA256 hash "${text}")
  string(SUBSTRING "${hash}" 0 12 hash)
  list(APPEND words "${kind}-${hash}")
  list(APPEND all_headers ${headers})
endforeach()
list(JOIN words " " words)

if(FORM STREQUAL "host")
  set(code "#include \"core/plugin/abi.h\"\n\nnamespace trainyard {\n\n")
  string(APPEND code "std::string_view interface_words() { return \"${words}\"; }\n\n}  // namespace trainyard\n")
else()
  set(code "__attribute__((used, section(\".trainyard.interfaces\"))) static const char trainyard_plugin_interfaces[] =\n")
  string(APPEND code "    \"${words}\";\n")
endif()
# If nothing has changed, the file stays as it is, so that nothing that contains it is built again.
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL code)
  file(WRITE "${OUTPUT}" "${code}")
endif()

# The folders are dependencies, too, because a header that is added or removed changes the interface.
list(REMOVE_DUPLICATES all_headers)
set(rule "${OUTPUT}:")
foreach(header IN LISTS all_headers)
  string(APPEND rule " \\\n  ${ROOT}/${header}")
endforeach()
foreach(kind IN LISTS kinds)
  trainyard_folder_of_kind("${kind}" family)
  if(IS_DIRECTORY "${ROOT}/${family}")
    string(APPEND rule " \\\n  ${ROOT}/${family}")
  endif()
endforeach()
file(WRITE "${DEPENDENCIES}" "${rule}\n")
