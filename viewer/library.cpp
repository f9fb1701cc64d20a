// SPDX-License-Identifier: Apache-2.0
#include "viewer/library.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "messages/error.h"
#include "messages/nearest.h"
#include "viewer/run_file.h"

namespace trainyard::viewer {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxFolders = 20'000;
constexpr std::size_t kPastSliceBytes = 4u << 20;

bool is_output_directory(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / "metrics.jsonl", none);
}

/// Returns the output directories at or below `folder`. Links are not followed.
std::vector<fs::path> output_directories(const fs::path& folder) {
  std::vector<fs::path> found;
  if (is_output_directory(folder)) return {folder};
  std::error_code error;
  std::size_t looked_at = 0;
  auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
  for (; entry != fs::recursive_directory_iterator() && !error; entry.increment(error)) {
    if (!entry->is_directory() || entry->is_symlink()) continue;
    if (++looked_at > kMaxFolders) break;
    const bool is_run = is_output_directory(entry->path());
    if (is_run) found.push_back(entry->path());
    // What is below an output directory, such as checkpoints, is no run.
    if (is_run || entry.depth() + 1 >= kMaxDepth) entry.disable_recursion_pending();
  }
  return found;
}

Identity identity_of(const fs::path& directory) {
  struct stat status {};
  Identity identity{.run = directory.string(),
                    .name = directory.filename().string(),
                    .directory = directory.string(),
                    .source = "past"};
  if (::stat(identity.directory.c_str(), &status) == 0) identity.started_ns = status.st_ctim.tv_sec * 1'000'000'000LL;
  return identity;
}

}  // namespace

Library::~Library() {
  std::map<std::string, Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
  }
  // The followers end without the lock, because they may be waiting for it.
}

void Library::follow(const visitors::RunInfo& run) {
  const std::lock_guard lock(mutex_);
  if (entries_.contains(run.run)) return;
  make_room();
  if (entries_.size() >= kMaxRuns) return;
  auto book = std::make_shared<Book>(Identity{.run = run.run, .name = run.name, .file = run.file, .source = "live"});
  entries_[run.run] = {book, std::make_shared<Follower>(run, book, on_alert_)};
  ++revision_;
}

void Library::make_room() {
  if (entries_.size() < kMaxRuns) return;
  const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& entry) {
    const Entry& each = entry.second;
    return std::pair(!is_over(each.book->phase()), each.book->identity().started_ns);
  });
  if (is_over(oldest->second.book->phase())) entries_.erase(oldest);
}

void Library::open_folder(const std::string& folder) {
  std::error_code none;
  if (!fs::is_directory(folder, none)) throw Error(Code::kNotFound, "there is no folder {}", folder);
  const std::vector<fs::path> directories = output_directories(fs::canonical(folder));
  if (directories.empty()) {
    throw Error(Code::kInvalidArgument, "{} contains no run: no metrics.jsonl in it or in folders below it", folder);
  }
  std::vector<std::shared_ptr<Book>> books;
  const std::lock_guard lock(mutex_);
  for (const fs::path& directory : directories) {
    if (entries_.size() >= kMaxRuns || entries_.contains(directory)) continue;
    books.push_back(std::make_shared<Book>(identity_of(directory)));
    entries_[directory] = {books.back(), nullptr};
  }
  ++revision_;
  readers_.emplace_back([books = std::move(books)](const std::stop_token& stop) {
    for (const auto& book : books) {
      RunFile file(book->identity().directory + "/metrics.jsonl");
      RunFile insights(book->identity().directory + "/insights.jsonl");
      while (!stop.stop_requested() && (file.read(kPastSliceBytes, *book) || insights.read(kPastSliceBytes, *book))) {
      }
      book->set_phase(RunPhase::kEnded);
    }
  });
}

Library::Entry Library::find(const std::string& run) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(run);
  if (found != entries_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, entry] : entries_) known.push_back(name);
  throw Error(Code::kNotFound, "there is no run '{}'{}", run, suggestion(run, known));
}

std::vector<Library::Entry> Library::all() const {
  std::vector<Entry> list;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, entry] : entries_) list.push_back(entry);
  }
  std::ranges::stable_sort(list, std::greater{}, [](const Entry& entry) { return entry.book->identity().started_ns; });
  return list;
}

std::uint64_t Library::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

bool Library::all_over() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(entries_,
                             [](const auto& entry) { return !entry.second.follower || entry.second.follower->over(); });
}

}  // namespace trainyard::viewer
