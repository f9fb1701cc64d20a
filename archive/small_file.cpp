// SPDX-License-Identifier: Apache-2.0
#include "archive/small_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "core/files/regular_file.h"
#include "messages/error.h"

namespace trainyard::archive {

std::string read_small_file(const std::string& path, std::size_t max_bytes) {
  const auto size = static_cast<std::size_t>(core::require_regular_file(path).st_size);
  if (size > max_bytes) throw Error(Code::kCorrupt, "{}: has {} bytes; at most {} are read", path, size, max_bytes);
  std::ifstream file(path, std::ios::binary);
  std::string content(size, '\0');
  file.read(content.data(), static_cast<std::streamsize>(size));
  if (!file) throw Error(Code::kIo, "{}: cannot be read: {}", path, std::strerror(errno));
  return content;
}

void write_whole_file(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int reason = errno;
  ::unlink(temporary.c_str());
  throw Error(Code::kIo, "cannot write {}: {}", path, std::strerror(reason));
}

}  // namespace trainyard::archive
