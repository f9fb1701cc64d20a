#pragma once

#include <string>
#include <string_view>

// TRAINYARD_VERSION ("0.1") comes from the build, and TRAINYARD_TORCH_VERSION ("1.13.1") for what links LibTorch.
#ifndef TRAINYARD_TORCH_VERSION
#define TRAINYARD_TORCH_VERSION "none"
#endif
// Twice, so that a macro is expanded before it becomes text.
#define TRAINYARD_TEXT2(x) #x
#define TRAINYARD_TEXT(x) TRAINYARD_TEXT2(x)

/// What a plugin and the process that loads it must agree on before one may call C++ of the other: framework version,
/// compiler's C++ ABI, libstdc++'s string ABI, LibTorch (or none).
#define TRAINYARD_ABI_TAG                                                                               \
  "trainyard-" TRAINYARD_VERSION " cxxabi-" TRAINYARD_TEXT(__GXX_ABI_VERSION) " cxx11-" TRAINYARD_TEXT( \
      _GLIBCXX_USE_CXX11_ABI) " torch-" TRAINYARD_TORCH_VERSION

namespace trainyard {

/// What a plugin file says of itself in its ELF section `.trainyard`; readable without loading it. Five lines of text,
/// in the order of these fields.
struct PluginLabel {
  std::string kind;
  std::string name;
  std::string version;
  std::string description;
  std::string abi_tag;
};

/// Reads the label from the file without running any code of it. Throws kNotFound if there is no such file, kPluginLoad
/// if it is no plugin.
PluginLabel read_plugin_label(const std::string& path);

/// This build's tag, with the LibTorch version that its plugins are built against.
std::string_view host_abi_tag();

/// True if a plugin of tag `plugin` may be loaded here: all parts equal, or the plugin does without LibTorch.
bool abi_matches(std::string_view plugin, std::string_view host);

}  // namespace trainyard
