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

/// A holder removes its file, so what was opened may not be what the path names by the time that it is locked. A lock
/// on a file without a name would keep nobody out.
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

/// Empty if the holder has not written its name yet, or the text is not ours.
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
    // Whoever cannot write into the directory cannot disturb another run in it. Those who need it say so themselves.
    if (!file) return;
    const Attempt attempt = try_lock(path_, file.get());
    if (attempt == Attempt::kReplaced) continue;
    if (attempt == Attempt::kHeldByAnother) {
      const LockHolder holder = read_holder(file.get());
      if (holder.run == self.run && holder.host == self.host) return;  // A member of the same run.
      refuse(directory, holder);
    }
    const std::string text = to_text(self);
    if (::ftruncate(file.get(), 0) == 0) [[maybe_unused]]
      const auto written = ::pwrite(file.get(), text.data(), text.size(), 0);
    file_ = std::move(file);
    return;
  }
}

// The name goes before the lock, or another run could have locked the file whose name is then taken away.
DirectoryLock::~DirectoryLock() {
  if (file_ && is_still(path_, file_.get())) ::unlink(path_.c_str());
}

void remove_stale_lock(const std::string& file) {
  const FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  if (opened && ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0 && is_still(file, opened.get())) ::unlink(file.c_str());
}

}  // namespace trainyard::launch
