// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/temporary_checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "checkpoints/durable_file.h"
#include "messages/error.h"

namespace trainyard {

// A checkpoint appears complete or not at all, because it is written under another name, synced, and renamed. Leftovers
// are recognised by a lock that the kernel releases with the process that held it.

namespace {

namespace fs = std::filesystem;

/// The beginning of temporary names. Such a name is hidden, and list_checkpoints() does not take it for a checkpoint.
constexpr const char* kMark = ".tmp-";

/// mkdir() is atomic: whoever makes the directory owns it. Numbers are tried until one is free.
std::string make_directory(const std::string& stem) {
  for (int i = 0;; ++i) {
    std::string path = fmt::format("{}-{}-{}", stem, ::getpid(), i);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    std::error_code not_made;
    // Somebody has removed the whole folder while the run went on, but the run still wants to be saved.
    if (errno == ENOENT && fs::create_directories(fs::path(path).parent_path(), not_made)) continue;
    if (not_made) throw Error(Code::kIo, "cannot create the directory {}: {}", path, not_made.message());
    if (errno != EEXIST) checkpoints::throw_errno("create the directory", path);
  }
}

/// Locks a directory that is being written. Returns -1 if another process holds the lock.
int try_lock(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

TemporaryCheckpoint::TemporaryCheckpoint(std::string directory, std::string name)
    : directory_(std::move(directory)), name_(std::move(name)) {
  path_ = make_directory(directory_ + "/" + kMark + name_);
  lock_ = try_lock(path_);  // Where locks are not supported, sweep_temporaries() cannot take any either.
}

TemporaryCheckpoint::~TemporaryCheckpoint() {
  std::error_code ignored;  // What cannot be removed now is swept at the next start.
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

std::string TemporaryCheckpoint::publish(bool replace) {
  // First the names inside are synced, then comes the rename, then the name outside: at whatever point it crashes, no
  // named checkpoint is incomplete.
  checkpoints::sync_directory(path_);
  std::string target = directory_ + "/" + name_;
  // The exchange leaves the old checkpoint in the temporary's place, where the destructor removes it.
  if (replace && ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    checkpoints::sync_directory(directory_);
    return target;
  }
  for (int i = 2; ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) != 0; ++i) {
    // A file system that lacks the flag returns EINVAL; a plain rename refuses a directory that is not empty.
    if (errno == EINVAL && ::rename(path_.c_str(), target.c_str()) == 0) break;
    if (errno != EEXIST && errno != ENOTEMPTY) checkpoints::throw_errno("name the checkpoint", target);
    target = fmt::format("{}/{}.{}", directory_, name_, i);
  }
  path_.clear();
  checkpoints::sync_directory(directory_);
  return target;
}

void remove_checkpoint(const std::string& path) {
  const fs::path checkpoint(path);
  const std::string stem = (checkpoint.parent_path() / (kMark + checkpoint.filename().string())).string();
  std::string nameless;
  for (int i = 0;; ++i) {
    nameless = fmt::format("{}-{}-{}", stem, ::getpid(), i);
    if (::rename(path.c_str(), nameless.c_str()) == 0) break;
    if (errno == ENOENT) return;
    if (errno != EEXIST && errno != ENOTEMPTY) checkpoints::throw_errno("remove the checkpoint", path);
  }
  checkpoints::sync_directory(checkpoint.parent_path().string());
  std::error_code error;
  fs::remove_all(nameless, error);
  if (error) throw Error(Code::kIo, "cannot remove the checkpoint {}: {}", path, error.message());
}

int sweep_temporaries(const std::string& directory) {
  int swept = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (!entry.path().filename().string().starts_with(kMark)) continue;
    // A directory that a living process has locked is left alone. The lock of a process ends with it, however it ends.
    const int lock = try_lock(entry.path().string());
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
    ::close(lock);
    ++swept;
  }
  return swept;
}

void set_pointer(const std::string& directory, const std::string& pointer, const std::string& name) {
  const std::string path = directory + "/" + pointer;
  const std::string temporary = fmt::format("{}/.{}-{}", directory, pointer, ::getpid());
  // A killed process with the same id may have left this link.
  ::unlink(temporary.c_str());
  if (::symlink(name.c_str(), temporary.c_str()) != 0) checkpoints::throw_errno("create the link", temporary);
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    checkpoints::throw_errno("replace the link", path);
  }
  checkpoints::sync_directory(directory);
}

}  // namespace trainyard
