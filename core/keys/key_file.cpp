// SPDX-License-Identifier: Apache-2.0
#include "core/keys/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "messages/error.h"

namespace trainyard::core {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 4096;
constexpr const char* kFirstLine = "trainyard-key-file 1";

/// A file descriptor that is closed at the end of its scope.
class OpenKeyFile {
 public:
  OpenKeyFile(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~OpenKeyFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenKeyFile(const OpenKeyFile&) = delete;
  OpenKeyFile& operator=(const OpenKeyFile&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(Code::kInvalidArgument, fmt::format("{}: {}", path, why));
}

/// Refuses a file that belongs to another user. Root is allowed, because a container orchestrator makes secrets as
/// root, and root can read every file anyway.
void check_owner(const std::string& path, const struct stat& status) {
  if (status.st_uid == ::geteuid() || status.st_uid == 0) return;
  refuse(path,
         fmt::format("belongs to user {}; a key must belong to you (user {}) or to root", status.st_uid, ::geteuid()));
}

/// Refuses a folder in which other users could replace the file. This is so if they may write to the folder, unless it
/// is sticky, as /tmp is.
void check_folder(const std::string& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) throw Error(Code::kIo, "{}: {}", folder, std::strerror(errno));
  check_owner(folder, status);
  const bool others_may_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!others_may_write || (status.st_mode & S_ISVTX) != 0) return;
  refuse(folder, fmt::format("others may replace the keys in this folder (mode {:o}); use `chmod 700`",
                             status.st_mode & 07777U));
}

/// Returns the path without links. A link may lead only to a file below the folder in which the link is, because
/// container orchestrators mount secrets in this way. Every folder on the path from there is checked.
std::string checked_path(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::canonical(fs::absolute(path).parent_path(), error);
  const fs::path target = error ? fs::path() : fs::canonical(path, error);
  if (error == std::errc::no_such_file_or_directory) {
    throw Error(Code::kNotFound, "{}: there is no such key file; `trainyard keys new NAME` makes a key", path);
  }
  if (error) throw Error(Code::kIo, "{}: {}", path, error.message());
  const fs::path inside = target.lexically_relative(folder);
  if (inside.empty() || *inside.begin() == "..") {
    refuse(path, fmt::format("is a link to {}, out of its folder; name that file instead", target.string()));
  }
  check_folder(folder);
  for (fs::path parent = target.parent_path(); parent != folder; parent = parent.parent_path()) check_folder(parent);
  return target.string();
}

// The descriptor is checked and not the path, so that the file cannot be replaced between the check and the reading.
void check_file(const std::string& path, const OpenKeyFile& file) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) throw Error(Code::kIo, "{}: {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse(path, "is not a file, so it cannot be a key file");
  check_owner(path, status);
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    refuse(path, fmt::format("others may read or write this key (mode {:o}); use `chmod 600`, and a new key if "
                             "somebody may have read it",
                             status.st_mode & 07777U));
  }
  if (static_cast<std::size_t>(status.st_size) > kLargestFile) {
    throw Error(Code::kCorrupt, "{}: has {} bytes; a key file has at most {}", path, status.st_size, kLargestFile);
  }
}

std::string read_text(const std::string& path) {
  // O_NONBLOCK is needed because opening a FIFO would otherwise wait for a writer.
  const OpenKeyFile file(checked_path(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.is_open()) throw Error(Code::kIo, "{}: {}", path, std::strerror(errno));
  check_file(path, file);
  std::string text(kLargestFile, '\0');
  const ssize_t size = ::read(file.number(), text.data(), text.size());
  if (size < 0) throw Error(Code::kIo, "{}: {}", path, std::strerror(errno));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

/// Returns the word after `name` in the next line. The error shows no part of the line, which may be the secret.
std::string field(std::istringstream& lines, const char* name, const std::string& path) {
  std::string line;
  std::getline(lines, line);
  const std::string start = std::string(name) + " ";
  if (line.starts_with(start)) return line.substr(start.size());
  throw Error(Code::kCorrupt, "{}: a line \"{} ...\" is missing", path, name);
}

Key parsed_key(const std::string& text, const std::string& path) {
  std::istringstream lines(text);
  std::string first;
  std::getline(lines, first);
  if (first != kFirstLine) throw Error(Code::kCorrupt, "{}: does not begin with \"{}\"", path, kFirstLine);
  Key key;
  key.name = field(lines, "name", path);
  key.role = role_from_name(field(lines, "role", path));
  key.text = field(lines, "public", path);
  key.secret = field(lines, "secret", path);
  check_key_name(key.name);
  key_bytes(key.text);
  key_bytes(key.secret);
  return key;
}

void check_pair(const Key& key) {
  std::string derived(key.text.size() + 1, '\0');
  if (zmq_curve_public(derived.data(), key.secret.c_str()) == 0 && key.text == derived.c_str()) return;
  throw Error(Code::kCorrupt, "the secret key does not belong to the public key '{}'", key.text);
}

void write_all(const std::string& path, const OpenKeyFile& file, const std::string& text) {
  const ssize_t written = ::write(file.number(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size()) && ::fsync(file.number()) == 0) return;
  const std::string reason = std::strerror(errno);
  ::unlink(path.c_str());
  throw Error(Code::kIo, "cannot write {}: {}", path, reason);
}

}  // namespace

std::string key_file_text(const Key& key) {
  return fmt::format("{}\nname {}\nrole {}\npublic {}\nsecret {}\n", kFirstLine, key.name, name_of(key.role), key.text,
                     key.secret);
}

void write_key_file(const std::string& path, const Key& key) {
  const OpenKeyFile file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!file.is_open() && errno == EEXIST) refuse(path, "exists already; a key is never overwritten");
  if (!file.is_open()) throw Error(Code::kIo, "cannot make {}: {}", path, std::strerror(errno));
  write_all(path, file, key_file_text(key));
}

Key read_key_file(const std::string& path) {
  const std::string text = read_text(path);
  try {
    Key key = parsed_key(text, path);
    check_pair(key);
    return key;
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(Code::kCorrupt, what.starts_with(path) ? what : path + ": " + what);
  }
}

}  // namespace trainyard::core
