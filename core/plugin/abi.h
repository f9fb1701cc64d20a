// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// The build defines TRAINYARD_VERSION ("0.1") and, for code that links LibTorch, TRAINYARD_TORCH_VERSION ("1.13.1").
#ifndef TRAINYARD_TORCH_VERSION
#define TRAINYARD_TORCH_VERSION "none"
#endif
// There are two macros, so that an argument is expanded before it becomes text.
#define TRAINYARD_TEXT2(x) #x
#define TRAINYARD_TEXT(x) TRAINYARD_TEXT2(x)

/// The ABI tag: the properties that a plugin and the process that loads it must have in common, so that each can call
/// the other's C++ code. These are the version of Trainyard, the compiler's C++ ABI, libstdc++'s string ABI, and the
/// version of LibTorch ("none" without it).
#define TRAINYARD_ABI_TAG                                                                               \
  "trainyard-" TRAINYARD_VERSION " cxxabi-" TRAINYARD_TEXT(__GXX_ABI_VERSION) " cxx11-" TRAINYARD_TEXT( \
      _GLIBCXX_USE_CXX11_ABI) " torch-" TRAINYARD_TORCH_VERSION

namespace trainyard {

/// The content of a plugin file's ELF section `.trainyard`, which can be read without loading the file: five lines of
/// text, in the order of these fields. The section `.trainyard.interfaces`, which the CMake function trainyard_plugin()
/// adds, contains the interfaces that the file was built against. read_plugin_label() inserts these into `abi_tag`.
struct PluginLabel {
  std::string kind;
  std::string name;
  std::string version;
  std::string description;
  std::string abi_tag;
};

/// Reads the label from the file without running any of its code. Throws kNotFound if there is no such file,
/// kInvalidArgument if `path` is not a regular file, and kPluginLoad if the file is not a plugin.
PluginLabel read_plugin_label(const std::string& path);

/// Returns the ABI tag of this build of Trainyard. The tag consists of the parts of TRAINYARD_ABI_TAG, with the version
/// of LibTorch that the plugins of this build use, and of one word for the interface of each kind of plugin, such as
/// "strategy-fd5132dae94b". The hexadecimal number in this word is a hash of the headers that a plugin of the kind
/// includes. The build computes it (cmake/TrainyardInterfaces.cmake).
std::string_view host_abi_tag();

/// Returns only the words of host_abi_tag() that stand for interfaces. The build generates the definition of this
/// function.
std::string_view interface_words();

/// Returns true if a process with the tag `host` may load a plugin with the tag `plugin`. All parts must be equal, with
/// two exceptions: a plugin need not use LibTorch, and an interface that is missing from one of the tags is not
/// compared.
bool abi_matches(std::string_view plugin, std::string_view host);

/// Returns the tag `host` without the interfaces that are missing from the tag `plugin`, for an error message that
/// shows both tags.
std::string comparable_abi_tag(std::string_view plugin, std::string_view host);

}  // namespace trainyard
