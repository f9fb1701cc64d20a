# SPDX-License-Identifier: Apache-2.0
# What there is to know of a kind of plugin, all of it by its name.

# The kinds that a process of ours can load.
set(TRAINYARD_KINDS component accelerator collective strategy model dataset transform environment device)

# Out of the name of a kind, the folder that its plugins lie in: models, strategies.
function(trainyard_folder_of_kind kind result)
  string(REGEX REPLACE "y$" "ie" stem "${kind}")
  set(${result} "${stem}s" PARENT_SCOPE)
endfunction()

# The headers below `root` that a plugin of this kind is written against; what they include belongs to it as well.
function(trainyard_interface_of_kind root kind result)
  trainyard_folder_of_kind("${kind}" family)
  file(GLOB headers RELATIVE "${root}" "${root}/${family}/*.h")
  if(kind STREQUAL "component")
    set(headers core/component/component.h)
  endif()
  set(${result} core/plugin/plugin.h ${headers} PARENT_SCOPE)
endfunction()

# The library that a plugin of this kind links: that of its family's folder, where there is one.
function(trainyard_layer_of_kind kind result)
  trainyard_folder_of_kind("${kind}" family)
  set(${result} trainyard::core PARENT_SCOPE)
  if(TARGET trainyard::${family})
    set(${result} trainyard::${family} PARENT_SCOPE)
  endif()
endfunction()
