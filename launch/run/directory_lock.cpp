// SPDX-License-Identifier: Apache-2.0
#include "launch/run/directory_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "messages/error.h"

namespace trainyard::launch {

namespace {

enum class Attempt { kLocked, kHeldByAnother, kReplaced };

/// Returns true if `path` still refers to the open file. A holder removes its lock file when it ends. If the file was
/// removed between open() and flock(), the lock would be on a file without a name, and would not keep anybody out.
bool is_still(const std::string& path, int file) {
  struct stat named = {};
  struct stat opened = {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(file, &opened) == 0 && named.st_ino == opened.st_ino &&
         named.st_dev == opened.st_dev;
}

Attempt try_lock(const std::string& path, int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return is_still(path, file) ? Attempt::kLocked : Attempt::kReplaced;
  if (errno == EWOULDBLOCK || errno == EACCES) return Attempt::kHeldByAnother;
  throw Error(Code::kIo,
              "{}: cannot be locked ({}), so nothing would keep a second run out of this directory; choose a "
              "run.directory on a file system that has locks",
              path, std::strerror(errno));
}

std::string to_text(const LockHolder& holder) {
  return nlohmann::json{{"run", holder.run},
                        {"host", holder.host},
                        {"pid", holder.pid},
                        {"file", holder.file},
                        {"since", holder.since}}
             .dump(2) +
         "\n";
}

/// Returns the holder that the lock file names. The result is empty if the holder has not written the file yet, or if
/// the content has another form.
LockHolder read_holder(int file) {
  char text[4096];
  const ssize_t got = ::pread(file, text, sizeof text, 0);
  const auto json = nlohmann::json::parse(text, text + std::max<ssize_t>(got, 0), nullptr, false);
  LockHolder holder;
  if (!json.is_object()) return holder;
  try {
    json.at("run").get_to(holder.run);
    json.at("host").get_to(holder.host);
    json.at("pid").get_to(holder.pid);
    json.at("file").get_to(holder.file);
    json.at("since").get_to(holder.since);
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return holder;
}

[[noreturn]] void refuse(const std::string& directory, const LockHolder& holder) {
  const std::string who = holder.run.empty()
                              ? "another run"
                              : fmt::format("run '{}' (process {} on host '{}', {}, since {})", holder.run, holder.pid,
                                            holder.host, holder.file, holder.since);
  throw Error(Code::kInvalidArgument,
              "run.directory: '{}' belongs to {}; a directory belongs to one run at a time, so choose another "
              "run.directory, or wait until that run has ended",
              directory, who);
}

}  // namespace

LockHolder this_launcher(const std::string& run, const std::string& file) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return {run, host, ::getpid(), file, fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)))};
}

std::string DirectoryLock::path_in(const std::string& directory) { return directory + "/run.lock"; }

DirectoryLock::DirectoryLock(const std::string& directory, const LockHolder& self) : path_(path_in(directory)) {
  if (directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  for (;;) {
    FileDescriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    // A user who may not write to the directory cannot disturb another run in it, so no lock is needed. Components that
    // need to write there report the error themselves.
    if (!file) return;
    const Attempt attempt = try_lock(path_, file.get());
    if (attempt == Attempt::kReplaced) continue;
    if (attempt == Attempt::kHeldByAnother) {
      const LockHolder holder = read_holder(file.get());
      if (holder.run == self.run && holder.host == self.host) return;  // The same run already holds the lock.
      refuse(directory, holder);
    }
    const std::string text = to_text(self);
    if (::ftruncate(file.get(), 0) == 0) [[maybe_unused]]
      const auto written = ::pwrite(file.get(), text.data(), text.size(), 0);
    file_ = std::move(file);
    return;
  }
}

// Removes the file before the lock is released. In the other order, another run could lock the file in between, and its
// lock file would then be removed.
DirectoryLock::~DirectoryLock() {
  if (file_ && is_still(path_, file_.get())) ::unlink(path_.c_str());
}

void remove_stale_lock(const std::string& file) {
  const FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  if (opened && ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0 && is_still(file, opened.get())) ::unlink(file.c_str());
}

}  // namespace trainyard::launch
