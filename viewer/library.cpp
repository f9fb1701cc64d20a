// SPDX-License-Identifier: Apache-2.0
#include "viewer/library.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "messages/error.h"
#include "messages/nearest.h"
#include "viewer/past_run.h"
#include "viewer/recorded_run.h"

namespace trainyard::viewer {
namespace {

namespace fs = std::filesystem;

std::int64_t created_ns(const std::string& directory) {
  struct stat status {};
  return ::stat(directory.c_str(), &status) == 0 ? status.st_ctim.tv_sec * 1'000'000'000LL : 0;
}

Identity identity_of(const archive::RunRecord& record) {
  Identity identity{.run = record.directory,
                    .name = fs::path(record.directory).filename(),
                    .directory = record.directory,
                    .source = "past"};
  if (const archive::LaunchRecord* launch = record.last()) {
    identity.run = launch->run;
    identity.name = launch->name;
    identity.file = launch->file;
    identity.started_ns = launch->started_ns;
  } else {
    identity.started_ns = created_ns(record.directory);
  }
  return identity;
}

/// Returns the running launch that is writing to the output directory, or an empty optional if there is none.
std::optional<visitors::RunInfo> running_launch(const archive::RunRecord& record) {
  if (record.last() == nullptr || archive::state_now(*record.last()) != archive::LaunchState::kRunning) return {};
  try {
    for (visitors::RunInfo& run : visitors::list_runs()) {
      if (run.run == record.last()->run) return std::move(run);
    }
  } catch (const Error&) {
    // A launch in a directory that cannot be trusted is not followed. Its output directory is shown instead.
  }
  return {};
}

}  // namespace

Library::~Library() {
  std::map<std::string, Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
  }
  // The followers are destroyed here, after the lock has been released, because their threads may be waiting for the
  // lock.
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
    return std::pair(!is_over(each.book->read(&Shelves::phase)), each.book->read(&Shelves::identity).started_ns);
  });
  if (is_over(oldest->second.book->read(&Shelves::phase))) entries_.erase(oldest);
}

void Library::open_folder(const std::string& folder) {
  std::error_code none;
  const fs::path whole = fs::canonical(folder, none);
  const std::vector<archive::RunRecord> records = archive::find_runs(none ? folder : whole.string());
  const std::vector<std::string> recordings =
      archive::is_output_directory(whole) ? std::vector<std::string>() : recordings_in(whole);
  if (records.empty() && recordings.empty()) {
    throw Error(
        Code::kInvalidArgument,
        "{} contains no run: neither it nor a folder below it has launches/, metrics or checkpoints/, and it has no "
        "recording",
        folder);
  }
  std::vector<std::shared_ptr<Book>> books;
  for (const archive::RunRecord& record : records) {
    if (const auto live = running_launch(record)) {
      follow(*live);
    } else if (auto book = add_past_run(record)) {
      books.push_back(std::move(book));
    }
  }
  read_later([books = std::move(books)](const std::stop_token& stop) {
    for (const auto& book : books) read_output_directory(book->read(&Shelves::identity), *book, stop);
  });
  for (const std::string& path : recordings) open_recording_or_say(path);
}

void Library::open_recording(const std::string& path) {
  const auto recorded = std::make_shared<const RecordedRun>(path);
  const auto book = add(recorded->identity());
  if (book == nullptr) return;
  const Ending ending = recorded->ending();
  book->set_phase(ending.phase, ending.message);
  book->set_graph(recorded->graph());
  read_later(
      [recorded, book](const std::stop_token& stop) { read_or_say(*book, [&] { recorded->read(*book, stop); }); });
}

// Opens a recording of a folder. If this fails, adds it as a run whose message is the error instead of throwing, so
// that the other recordings are still opened.
void Library::open_recording_or_say(const std::string& path) {
  try {
    open_recording(path);
  } catch (const Error& error) {
    const auto book = add({.run = path, .name = fs::path(path).filename(), .directory = path, .source = "recording"});
    if (book != nullptr) book->set_phase(RunPhase::kUnknown, error.what());
  }
}

void Library::read_later(std::function<void(const std::stop_token&)> read) {
  const std::lock_guard lock(mutex_);
  readers_.emplace_back(std::move(read));
}

std::shared_ptr<Book> Library::add_past_run(const archive::RunRecord& record) {
  auto book = add(identity_of(record));
  if (book != nullptr) enter_record(record, *book);
  return book;
}

std::shared_ptr<Book> Library::add(Identity identity) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= kMaxRuns) return nullptr;
  if (const auto known = entries_.find(identity.run); known != entries_.end()) {
    if (known->second.book->read(&Shelves::identity).directory == identity.directory) return nullptr;
    // The name is taken by a run of another host or another time, or by the run of which this is a recording. So the
    // run is named after its directory.
    identity.run = identity.directory;
    if (entries_.contains(identity.run)) return nullptr;
  }
  auto book = std::make_shared<Book>(identity);
  entries_[identity.run] = {book, nullptr};
  ++revision_;
  return book;
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
  std::ranges::stable_sort(list, std::greater{},
                           [](const Entry& entry) { return entry.book->read(&Shelves::identity).started_ns; });
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
