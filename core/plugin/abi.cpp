#include "core/plugin/abi.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "messages/error.h"

namespace trainyard {
namespace {

/// The limit for the label section; a plugin's label has a few hundred bytes.
constexpr std::size_t kMaxLabelBytes = 4096;

/// Reads `count` objects of type T at `offset`, or nothing if the file is too short. It never reads beyond the end: the
/// offsets come from the file, and the file may be anything that ends in .so.
template <class T>
std::optional<std::vector<T>> read_at(std::ifstream& file, std::uint64_t offset, std::size_t count) {
  std::vector<T> objects(count);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(objects.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!file) return {};
  return objects;
}

/// The bytes of the ELF section `.trainyard`, or nothing if this is not an ELF file or has no such section. Source: the
/// ELF-64 object file format, System V ABI, chapters 4.1 (header) and 4.2 (sections).
std::optional<std::string> read_label_section(std::ifstream& file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0, 1);
  if (!header || std::memcmp(header->front().e_ident, ELFMAG, SELFMAG) != 0) return {};
  const Elf64_Ehdr& elf = header->front();
  const auto sections = read_at<Elf64_Shdr>(file, elf.e_shoff, elf.e_shnum);
  if (!sections || elf.e_shstrndx >= sections->size()) return {};
  const Elf64_Shdr& names_at = (*sections)[elf.e_shstrndx];
  // The number comes from the file, so it is bounded before memory is allocated.
  if (names_at.sh_size > (1u << 20)) return {};
  auto names = read_at<char>(file, names_at.sh_offset, names_at.sh_size);
  if (!names || names->empty()) return {};
  // This makes strcmp end within the table, whatever the table holds.
  names->back() = '\0';
  for (const Elf64_Shdr& section : *sections) {
    if (section.sh_name >= names->size() || std::strcmp(names->data() + section.sh_name, ".trainyard") != 0) continue;
    if (section.sh_size > kMaxLabelBytes) return {};
    const auto text = read_at<char>(file, section.sh_offset, section.sh_size);
    if (!text) return {};
    return std::string(text->data(), strnlen(text->data(), text->size()));
  }
  return {};
}

/// For example "a b torch-1.13.1" -> {"a b", "torch-1.13.1"}.
std::pair<std::string_view, std::string_view> split_torch(std::string_view tag) {
  const auto at = tag.rfind(' ');
  return at == std::string_view::npos ? std::pair(tag, std::string_view())
                                      : std::pair(tag.substr(0, at), tag.substr(at + 1));
}

}  // namespace

// It reads a few hundred bytes of a library that may have hundreds of megabytes.
PluginLabel read_plugin_label(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Code::kNotFound, "no plugin file {}", path);
  const auto text = read_label_section(file);
  if (!text) throw Error(Code::kPluginLoad, "{} is no Trainyard plugin: it has no section '.trainyard'", path);
  std::istringstream lines(*text);
  PluginLabel label;
  for (std::string* field : {&label.kind, &label.name, &label.version, &label.description, &label.abi_tag}) {
    if (!std::getline(lines, *field)) throw Error(Code::kPluginLoad, "{} has a broken plugin label: {}", path, *text);
  }
  return label;
}

// This file does not link LibTorch, so its own tag would say "none". The host's tag names the version of the build.
#undef TRAINYARD_TORCH_VERSION
#define TRAINYARD_TORCH_VERSION TRAINYARD_HOST_TORCH_VERSION
std::string_view host_abi_tag() { return TRAINYARD_ABI_TAG; }

// The host's tag names the LibTorch that its plugins share. A plugin that uses none cannot disagree with it.
bool abi_matches(std::string_view plugin, std::string_view host) {
  const auto [plugin_base, plugin_torch] = split_torch(plugin);
  const auto [host_base, host_torch] = split_torch(host);
  return plugin_base == host_base && (plugin_torch == "torch-none" || plugin_torch == host_torch);
}

}  // namespace trainyard
