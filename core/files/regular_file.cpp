// SPDX-License-Identifier: Apache-2.0
#include "core/files/regular_file.h"

#include <cerrno>
#include <cstring>

#include "messages/error.h"

namespace trainyard::core {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

}  // namespace

struct stat require_regular_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw Error(Code::kNotFound, "{}: cannot be read: {}", path, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(Code::kInvalidArgument, "{}: is {}, not a file", path, kind_of(status.st_mode));
  }
  return status;
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace trainyard::core
