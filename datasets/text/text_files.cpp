// SPDX-License-Identifier: Apache-2.0
#include "datasets/text/text_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "messages/error.h"

namespace trainyard::text {
namespace {

namespace fs = std::filesystem;

/// Reads the file to its end without relying on its reported size, because a file may grow while it is read.
File read_file(const std::string& path) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error(Code::kIo, "cannot open {}: {}", path, std::strerror(errno));
  File file{path, {}};
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(path, failure);
  if (!failure) file.bytes.reserve(size);
  file.bytes.assign(std::istreambuf_iterator<char>(stream), {});
  // Reaching the end of the file is not an error, but a disk that fails before the end is.
  if (stream.bad()) throw Error(Code::kIo, "cannot read {} beyond byte {}", path, file.bytes.size());
  return file;
}

/// Returns the files of a folder, sorted. The file system lists them in any order, but their order determines which
/// text belongs to the split "train".
std::vector<std::string> sorted_files_of(const std::string& folder) {
  std::error_code failure;
  std::vector<std::string> paths;
  fs::directory_iterator entry(folder, failure);
  if (failure) throw Error(Code::kIo, "cannot list the folder {}: {}", folder, failure.message());
  for (; entry != fs::directory_iterator(); entry.increment(failure)) {
    if (entry->is_regular_file(failure)) paths.push_back(entry->path().string());
  }
  if (failure) throw Error(Code::kIo, "cannot list the folder {}: {}", folder, failure.message());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

std::vector<File> read_text_files(const std::string& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::exists(status)) throw Error(Code::kNotFound, "there is no file or folder {}", path);
  if (fs::is_regular_file(status)) return {read_file(path)};
  if (!fs::is_directory(status)) throw Error(Code::kInvalidArgument, "{} is neither a regular file nor a folder", path);

  std::vector<File> files;
  std::set<fs::path> seen;
  for (const std::string& name : sorted_files_of(path)) {
    // Files are compared by their real paths, so that a link and its target are read only once.
    if (seen.insert(fs::canonical(name, failure)).second) files.push_back(read_file(name));
  }
  if (files.empty()) throw Error(Code::kNotFound, "there is no regular file in the folder {}", path);
  return files;
}

}  // namespace trainyard::text
