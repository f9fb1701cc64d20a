// SPDX-License-Identifier: Apache-2.0
#include "core/rendezvous/rendezvous.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "core/activity/wait_scope.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

using Clock = std::chrono::steady_clock;

/// The time between two checks for a note. It is short, because a run starts within tenths of a second.
constexpr auto kLook = std::chrono::microseconds(500);

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/';
}

void check_key(const std::string& key) {
  for (const char c : key) {
    if (!is_key_character(c)) {
      throw Error(Code::kInvalidArgument, "the key '{}' is not allowed; letters, digits, '_', '-', '.' and '/'", key);
    }
  }
  if (key.empty()) throw Error(Code::kInvalidArgument, "the key '{}' is not allowed; at least one character", key);
}

class FolderRendezvous final : public Rendezvous {
 public:
  explicit FolderRendezvous(std::string folder) : folder_(std::move(folder)) {}

  /// The note is first written to a file with another name and then renamed, so a reader never sees an incomplete note.
  void put(const std::string& key, const std::string& value) override {
    const std::string path = path_of(key);
    const std::string draft = fmt::format("{}.{}.{}~", path, ::getpid(), ::gettid());
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    std::ofstream file(draft, std::ios::binary);
    errno = 0;
    file << value << std::flush;
    if (!file) throw Error(Code::kIo, "cannot write the note {}: {}", path, std::strerror(errno));
    std::filesystem::rename(draft, path, error);
    if (error) throw Error(Code::kIo, "cannot write the note {}: {}", path, error.message());
  }

  bool find(const std::string& key, std::string& value) const override {
    const std::ifstream file(path_of(key), std::ios::binary);
    if (!file) return false;
    std::ostringstream text;
    text << file.rdbuf();
    value = text.str();
    return true;
  }

 private:
  /// Returns the path of the note's file. All notes are in one folder, so '/' is replaced by a character that no key
  /// contains.
  std::string path_of(const std::string& key) const {
    check_key(key);
    std::string name = key;
    for (char& c : name) {
      if (c == '/') c = '+';
    }
    return folder_ + "/" + name;
  }

  std::string folder_;
};

class LocalRendezvous final : public Rendezvous {
 public:
  void put(const std::string& key, const std::string& value) override {
    check_key(key);
    const std::lock_guard lock(mutex_);
    notes_[key] = value;
  }

  bool find(const std::string& key, std::string& value) const override {
    const std::lock_guard lock(mutex_);
    const auto found = notes_.find(key);
    if (found == notes_.end()) return false;
    value = found->second;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> notes_;
};

}  // namespace

std::string Rendezvous::get(const std::string& key, std::chrono::milliseconds timeout) const {
  const WaitScope waiting(WaitKind::kRanks);
  const auto until = Clock::now() + timeout;
  std::string value;
  while (!find(key, value)) {
    if (Clock::now() > until) {
      throw Error(Code::kTimeout, "nobody left the note '{}' within {} s", key, timeout.count() / 1000.0);
    }
    std::this_thread::sleep_for(kLook);
  }
  return value;
}

std::unique_ptr<Rendezvous> make_folder_rendezvous(const std::string& folder) {
  return std::make_unique<FolderRendezvous>(folder);
}

std::unique_ptr<Rendezvous> make_local_rendezvous() { return std::make_unique<LocalRendezvous>(); }

std::vector<std::string> exchange(Rendezvous& rendezvous, const std::string& key, std::uint32_t rank,
                                  const std::vector<std::uint32_t>& ranks, const std::string& value,
                                  std::chrono::milliseconds timeout) {
  const auto note_of = [&](std::uint32_t one) { return fmt::format("{}.{}", key, one); };
  rendezvous.put(note_of(rank), value);
  const WaitScope waiting(WaitKind::kRanks);
  const auto until = Clock::now() + timeout;
  std::vector<std::string> values(ranks.size());
  std::vector<bool> here(ranks.size());
  for (;;) {
    std::vector<std::uint32_t> missing;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (!here[i]) here[i] = rendezvous.find(note_of(ranks[i]), values[i]);
      if (!here[i]) missing.push_back(ranks[i]);
    }
    if (missing.empty()) return values;
    if (Clock::now() > until) {
      throw Error(Code::kTimeout, "rank {} waited {} s at '{}' for rank{} {}, which did not come", rank,
                  timeout.count() / 1000.0, key, missing.size() == 1 ? "" : "s", fmt::join(missing, ", "));
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace trainyard::core
