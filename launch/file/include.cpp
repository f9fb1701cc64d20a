// SPDX-License-Identifier: Apache-2.0
#include "launch/file/include.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/regular_file.h"
#include "launch/file/shipped_files.h"
#include "launch/file/substitution.h"
#include "launch/file/text_guard.h"
#include "launch/file/toml_reader.h"

namespace trainyard::launch {

// Included files are merged as trees of values before anything is interpreted, so later steps see only one file. Each
// value keeps its origin, which names the file in which it was written.

namespace {

namespace fs = std::filesystem;

/// The depth to which files may include each other.
constexpr std::size_t kMaxIncludes = 16;
/// The limit for the total number of files. Without it, a few files that each include the next file twice would take
/// forever.
constexpr std::size_t kMaxFiles = 256;

/// Reads a launch file and, depth first, the files that it includes.
class IncludeReader {
 public:
  explicit IncludeReader(std::vector<SourceFile>* sources) : sources_(sources) {}

  // Returns the merged content of a file and its includes. The file takes precedence over the files that it includes.
  Value read(const std::string& path) {
    chain_.push_back(path);
    if (++files_ > kMaxFiles) throw Error(Code::kInvalidArgument, "{}: more than {} files", path, kMaxFiles);
    // The file must be parsed first, because it names its includes.
    std::string text = read_launch_text(path);
    Value own = read_toml(text, path);
    if (sources_ != nullptr) sources_->push_back({path, std::move(text)});
    Value merged{Value::Table{}, own.origin};
    auto& table = std::get<Value::Table>(own.data);
    if (const auto include = table.extract("include"); !include.empty()) add_included(merged, include.mapped());
    merge(merged, std::move(own));
    chain_.pop_back();
    return merged;
  }

 private:
  void add_included(Value& merged, const Value& include) {
    const Value::List one{include};
    const auto* list = include.get_if<Value::List>();
    for (const Value& entry : list != nullptr ? *list : one) {
      // The arguments are not known yet, because they are declared in the files that are being read. So only
      // `${env:...}` and `${file_dir}` can be used here.
      const Value resolved = Substitution().resolve(entry, "include");
      const auto* name = resolved.get_if<std::string>();
      if (name == nullptr) throw not_allowed(entry, "include", "a list of files");
      merge(merged, read_included(entry.origin, *name));
    }
  }

  Value read_included(const Origin& origin, const std::string& name) {
    const std::string beside = (fs::path(origin.file).parent_path() / name).lexically_normal().string();
    const std::string path = core::is_there(beside) ? beside : shipped_file(name);
    if (!path.empty()) {
      check_is_file(origin, path);
    } else {
      // The error shows the path that was tried, because it is relative to the including file and not to the working
      // directory.
      throw error_at(origin, "include", fmt::format("\"{}\" is not a file{}", beside, shipped_suggestion(name)),
                     Code::kNotFound);
    }
    check_chain(origin, path);
    return read(path);
  }

  // Throws if the path is not a file. The error points to the line with the include, because that is where the user can
  // correct it.
  static void check_is_file(const Origin& origin, const std::string& path) {
    try {
      core::require_regular_file(path);
    } catch (const Error& error) {
      throw error_at(origin, "include", error.what(), error.code());
    }
  }

  // Throws if the file is already being read. Files are compared by device and inode, because a link can give the same
  // file another name.
  void check_chain(const Origin& origin, const std::string& path) const {
    const auto same = [&path](const std::string& open) {
      std::error_code gone;  // If the file disappears meanwhile, reading it fails with an error.
      return fs::equivalent(open, path, gone);
    };
    if (const auto first = std::ranges::find_if(chain_, same); first != chain_.end()) {
      const std::string chain = fmt::format("{} -> {}", fmt::join(first, chain_.end(), " -> "), path);
      throw error_at(origin, "include", fmt::format("files include one another: {}", chain));
    }
    if (chain_.size() >= kMaxIncludes) {
      throw error_at(origin, "include", fmt::format("files are included more than {} deep", kMaxIncludes));
    }
  }

  std::vector<SourceFile>* sources_;
  std::vector<std::string> chain_;  ///< The files that are being read, outermost first.
  std::size_t files_ = 0;
};

/// Returns true if both tables have the key, with different values.
bool names_another(const Value::Table& base, const Value::Table& over, const std::string& key) {
  const auto mine = over.find(key);
  if (mine == over.end()) return false;
  const auto theirs = base.find(key);
  return theirs != base.end() && to_json(mine->second) != to_json(theirs->second);
}

bool replaces(const Value::Table& base, const Value::Table& over) {
  return names_another(base, over, "plugin") || names_another(base, over, "command") ||
         (base.contains("plugin") && over.contains("command")) || (base.contains("command") && over.contains("plugin"));
}

/// Another command is usually another way to start the same member. It must not silently turn the member into an
/// external program, so `over` gets the declaration of `base` if it has none.
void keep_declaration(Value::Table& base, Value::Table& over) {
  if (!base.contains("command") || !over.contains("command")) return;
  if (auto declaration = base.extract("declaration"); !declaration.empty()) over.insert(std::move(declaration));
}

}  // namespace

void merge(Value& base, Value over) {
  auto* below = base.get_if<Value::Table>();
  auto* above = over.get_if<Value::Table>();
  if (below == nullptr || above == nullptr) {
    base = std::move(over);
    return;
  }
  if (replaces(*below, *above)) {
    keep_declaration(*below, *above);
    base = std::move(over);
    return;
  }
  // Errors about the whole table point to the file that changed it last. The command line does not count, because it
  // changes only single values.
  if (!over.origin.file.empty()) base.origin = over.origin;
  for (auto& [key, value] : *above) {
    // try_emplace() does not move `value` if the key exists, so it can be merged.
    const auto [place, fresh] = below->try_emplace(key, std::move(value));
    if (!fresh) merge(place->second, std::move(value));
  }
}

Value read_with_includes(const std::string& path, std::vector<SourceFile>* sources) {
  return IncludeReader(sources).read(path);
}

}  // namespace trainyard::launch
