// SPDX-License-Identifier: Apache-2.0
#include "core/files/socket_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "messages/error.h"

namespace trainyard::core {
namespace {

/// The address of a Unix socket has 107 characters, of which some are for the names in this folder.
constexpr std::size_t kLongestParent = 80;

/// Returns the folder for temporary files. Does not check that it exists.
std::string temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  const std::string folder = named != nullptr ? named : "";
  return folder.empty() || folder.size() > kLongestParent ? "/tmp" : folder;
}

}  // namespace

SocketFolder::SocketFolder(const std::string& where) {
  const std::string parent = temporary_folder();
  path_ = parent + "/trainyard_XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) {
    throw Error(Code::kIo,
                "{}: cannot make a folder for sockets in '{}': {}; set TMPDIR to a folder in which you may write",
                where, parent, std::strerror(errno));
  }
}

SocketFolder::~SocketFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace trainyard::core
