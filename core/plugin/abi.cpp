// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/abi.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>
#include <vector>

#include "core/files/regular_file.h"
#include "messages/error.h"

namespace trainyard {
namespace {

/// The maximum size of the label section. A plugin's label normally has a few hundred bytes.
constexpr std::size_t kMaxLabelBytes = 4096;

/// Reads `count` objects of type T at `offset`. Returns an empty optional if the file is too short, which must be
/// checked because the offsets come from the file, and the file may be anything whose name ends in .so.
template <class T>
std::optional<std::vector<T>> read_at(std::ifstream& file, std::uint64_t offset, std::size_t count) {
  std::vector<T> objects(count);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(objects.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!file) return {};
  return objects;
}

/// Returns the text in the ELF section `wanted`, or an empty optional if this is not an ELF file or has no such
/// section. Source: the ELF-64 object file format, System V ABI, chapters 4.1 (header) and 4.2 (sections).
std::optional<std::string> read_section(std::ifstream& file, const char* wanted) {
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
  // A terminating zero makes strcmp() stop within the table, whatever the table contains.
  names->back() = '\0';
  for (const Elf64_Shdr& section : *sections) {
    if (section.sh_name >= names->size() || std::strcmp(names->data() + section.sh_name, wanted) != 0) continue;
    if (section.sh_size > kMaxLabelBytes) return {};
    const auto text = read_at<char>(file, section.sh_offset, section.sh_size);
    if (!text) return {};
    return std::string(text->data(), strnlen(text->data(), text->size()));
  }
  return {};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (const auto word : std::views::split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word.begin(), word.end());
  }
  return words;
}

/// An ABI tag, divided into words: "trainyard-0.1 cxxabi-1017 cxx11-1" (the base), then one word for each interface,
/// then "torch-1.13.1".
struct Tag {
  explicit Tag(std::string_view text) : words(words_of(text)) {}
  bool whole() const { return words.size() > kBase; }
  std::span<const std::string_view> base() const { return std::span(words).first(kBase); }
  std::span<const std::string_view> interfaces() const {
    return std::span(words).subspan(kBase, words.size() - kBase - 1);
  }
  std::string_view torch() const { return words.back(); }

  static constexpr std::size_t kBase = 3;
  std::vector<std::string_view> words;
};

/// Returns the kind to which an interface belongs: "strategy" for "strategy-fd5132dae94b".
std::string_view kind_of(std::string_view interface_word) {
  return interface_word.substr(0, interface_word.find_last_of('-'));
}

/// Returns the word for the interface of this kind, or an empty optional if the tag has none. Kinds of plugins that are
/// defined outside this project have no word.
std::optional<std::string_view> interface_of(const Tag& tag, std::string_view kind) {
  const auto found = std::ranges::find(tag.interfaces(), kind, kind_of);
  if (found == tag.interfaces().end()) return {};
  return *found;
}

/// Inserts the words for the interfaces before the last word of the tag, which is the version of LibTorch.
std::string with_interfaces(std::string_view tag, std::string_view interfaces) {
  const std::size_t torch = std::min(tag.rfind(" torch-"), tag.size());
  return fmt::format("{} {}{}", tag.substr(0, torch), interfaces, tag.substr(torch));
}

}  // namespace

// Only the headers and the two small sections are read, because the library may have hundreds of megabytes.
PluginLabel read_plugin_label(const std::string& path) {
  if (!core::is_there(path)) throw Error(Code::kNotFound, "no plugin file {}", path);
  core::require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Code::kNotFound, "no plugin file {}", path);
  const auto text = read_section(file, ".trainyard");
  if (!text) throw Error(Code::kPluginLoad, "{} is not a Trainyard plugin: it has no section '.trainyard'", path);
  std::istringstream lines(*text);
  PluginLabel label;
  for (std::string* field : {&label.kind, &label.name, &label.version, &label.description, &label.abi_tag}) {
    if (!std::getline(lines, *field)) throw Error(Code::kPluginLoad, "{} has a broken plugin label: {}", path, *text);
  }
  // A file that was not built by trainyard_plugin() does not contain its interface, so it is given one that matches no
  // other and is therefore never loaded.
  const std::string unknown = label.kind + "-unknown";
  label.abi_tag = with_interfaces(label.abi_tag, read_section(file, ".trainyard.interfaces").value_or(unknown));
  return label;
}

// This library does not link LibTorch, so its own tag would contain "torch-none". The host's tag must contain the
// version that the plugins of this build use.
#undef TRAINYARD_TORCH_VERSION
#define TRAINYARD_TORCH_VERSION TRAINYARD_HOST_TORCH_VERSION
std::string_view host_abi_tag() {
  static const std::string tag = with_interfaces(TRAINYARD_ABI_TAG, interface_words());
  return tag;
}

// The host's tag contains the version of LibTorch that plugins share. A plugin that does not use LibTorch fits every
// version.
bool abi_matches(std::string_view plugin, std::string_view host) {
  const Tag ours(host), theirs(plugin);
  if (!ours.whole() || !theirs.whole() || !std::ranges::equal(ours.base(), theirs.base())) return false;
  const bool same_interfaces = std::ranges::all_of(
      theirs.interfaces(), [&](auto word) { return interface_of(ours, kind_of(word)).value_or(word) == word; });
  return same_interfaces && (theirs.torch() == "torch-none" || theirs.torch() == ours.torch());
}

std::string comparable_abi_tag(std::string_view plugin, std::string_view host) {
  const Tag ours(host), theirs(plugin);
  if (!ours.whole() || !theirs.whole()) return std::string(host);
  std::vector<std::string_view> words(ours.base().begin(), ours.base().end());
  for (const std::string_view word : theirs.interfaces()) {
    if (const auto known = interface_of(ours, kind_of(word))) words.push_back(*known);
  }
  words.push_back(ours.torch());
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace trainyard
