// SPDX-License-Identifier: Apache-2.0
#include "web/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/files/regular_file.h"
#include "messages/error.h"
#include "web/token.h"

namespace trainyard::web {
namespace {

constexpr std::size_t kFewest = 20, kMost = 200;

bool is_token(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return text.size() >= kFewest && text.size() <= kMost && std::ranges::all_of(text, allowed);
}

std::string read(const std::string& path) {
  const struct stat status = core::require_regular_file(path);
  if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    throw Error(Code::kInvalidArgument, "{} contains a secret, but every user may read or change it; chmod o= {}", path,
                path);
  }
  std::ifstream file(path);
  if (!file) throw Error(Code::kIo, "cannot read {}: {}", path, std::strerror(errno));
  // Reading one byte more than a valid file can have is enough to detect a file that is too long.
  std::string text(kMost + 2, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (is_token(text)) return text;
  throw Error(Code::kInvalidArgument, "{} does not contain a token: {} to {} of the characters A-Z, a-z, 0-9, - and _",
              path, kFewest, kMost);
}

/// Creates the file with a new token. Because of O_EXCL, this fails if a file or a link has appeared at the path
/// meanwhile.
std::string make(const std::string& path) {
  std::string token = new_token();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) throw Error(Code::kIo, "cannot make {}: {}", path, std::strerror(errno));
  const std::string line = token + "\n";
  const bool written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (::close(file) == 0 && written) return token;
  ::unlink(path.c_str());
  throw Error(Code::kIo, "cannot write {}: {}", path, std::strerror(errno));
}

}  // namespace

std::string token_from_file(const std::string& path) { return core::is_there(path) ? read(path) : make(path); }

}  // namespace trainyard::web
