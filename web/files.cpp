// SPDX-License-Identifier: Apache-2.0
#include "web/files.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "messages/error.h"

namespace trainyard::web {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = 64u << 20;
constexpr std::size_t kMaxFiles = 4096;

std::string type_of(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, const char*>, 11> kTypes{{{".html", "text/html; charset=utf-8"},
                                                                             {".js", "text/javascript; charset=utf-8"},
                                                                             {".css", "text/css; charset=utf-8"},
                                                                             {".json", "application/json"},
                                                                             {".svg", "image/svg+xml"},
                                                                             {".png", "image/png"},
                                                                             {".ico", "image/x-icon"},
                                                                             {".woff2", "font/woff2"},
                                                                             {".wasm", "application/wasm"},
                                                                             {".map", "application/json"},
                                                                             {".txt", "text/plain; charset=utf-8"}}};
  for (const auto& [end, type] : kTypes) {
    if (path.ends_with(end)) return type;
  }
  return "application/octet-stream";
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file) throw Error(Code::kIo, "cannot read {}", path.string());
  return content;
}

}  // namespace

Files Files::of_folder(const std::string& folder) {
  if (!fs::is_directory(folder)) throw Error(Code::kNotFound, "there is no folder {}", folder);
  Files files;
  std::size_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    bytes += entry.file_size();
    if (bytes > kMaxBytes || files.files_.size() >= kMaxFiles) {
      throw Error(Code::kUnsupported, "{}: at most {} files of {} MiB altogether can be served", folder, kMaxFiles,
                  kMaxBytes >> 20);
    }
    files.add("/" + fs::relative(entry.path(), folder).generic_string(), content_of(entry.path()));
  }
  return files;
}

void Files::add(const std::string& path, std::string content) {
  files_[path] = {.type = type_of(path), .body = std::make_shared<const std::string>(std::move(content))};
}

const Response* Files::find(const std::string& path) const {
  const auto found = files_.find(path == "/" ? "/index.html" : path);
  return found == files_.end() ? nullptr : &found->second;
}

}  // namespace trainyard::web
