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

// A checkpoint is written under a temporary name, synced to disk, and renamed, so it appears either complete or not at
// all. A temporary directory whose process has ended is recognised because the kernel has released the lock of that
// process.

namespace {

namespace fs = std::filesystem;

/// The beginning of temporary names. Such directories are hidden, and list_checkpoints() ignores them.
constexpr const char* kMark = ".tmp-";

/// Makes a new directory whose name begins with `stem`, and returns its path. Tries numbers until one is free; mkdir()
/// is atomic, so no other process can get the same directory.
std::string make_directory(const std::string& stem) {
  for (int i = 0;; ++i) {
    std::string path = fmt::format("{}-{}-{}", stem, ::getpid(), i);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    std::error_code not_made;
    // The whole checkpoint directory has been removed during the run, so it is made again.
    if (errno == ENOENT && fs::create_directories(fs::path(path).parent_path(), not_made)) continue;
    if (not_made) throw Error(Code::kIo, "cannot create the directory {}: {}", path, not_made.message());
    if (errno != EEXIST) checkpoints::throw_errno("create the directory", path);
  }
}

/// Locks a temporary directory and returns the file descriptor that holds the lock. Returns -1 if another process holds
/// it.
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
  // If the file system does not support locks, sweep_temporaries() cannot lock the directory either, and so does not
  // remove it.
  lock_ = try_lock(path_);
}

TemporaryCheckpoint::~TemporaryCheckpoint() {
  std::error_code ignored;  // If the directory cannot be removed now, the next run removes it.
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

std::string TemporaryCheckpoint::publish(bool replace) {
  // The names in the directory are synced before the rename, and the new name after it. So whenever the machine
  // crashes, a checkpoint with its final name is complete.
  checkpoints::sync_directory(path_);
  std::string target = directory_ + "/" + name_;
  // The two directories exchange their names. The destructor then removes the old checkpoint, which has the temporary
  // name.
  if (replace && ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    checkpoints::sync_directory(directory_);
    return target;
  }
  for (int i = 2; ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) != 0; ++i) {
    // If the file system does not support the flag, the error is EINVAL. A plain rename() then also fails if the target
    // is a directory that is not empty.
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
    // A directory that a living process has locked is not removed. The kernel releases the lock when the process ends,
    // even if it is killed.
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
  // An earlier process with the same id may have been killed and left this link.
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
