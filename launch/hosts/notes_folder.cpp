// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/notes_folder.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/files/private_folder.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::launch {
namespace {

namespace fs = std::filesystem;

/// Limits on what a host can make other hosts store. Notes contain only addresses and handles, so they are small.
constexpr std::size_t kMostNoteBytes = std::size_t{1} << 16;
constexpr std::size_t kMostNotes = 100'000;
constexpr std::size_t kMostNameBytes = 200;
constexpr char kDraft = '~';

/// Returns true if core/rendezvous can have given a file this name: the key of a note, with '+' instead of '/'. The
/// names of incomplete files end with '~'.
bool is_note_name(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-.+").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kMostNameBytes && name.front() != '.' && std::ranges::all_of(name, allowed);
}

FileDescriptor watch_folder(const std::string& folder) {
  core::make_private_folder(folder);
  FileDescriptor watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  // A note is written to another file and then renamed, so it is complete when inotify reports it.
  if (watch.get() < 0 || ::inotify_add_watch(watch.get(), folder.c_str(), IN_MOVED_TO) < 0) {
    throw Error(Code::kIo, "cannot watch the folder {}: {}", folder, std::strerror(errno));
  }
  return watch;
}

}  // namespace

NotesFolder::NotesFolder(PollLoop& loop, std::string folder, std::function<void(const HostNote&)> written)
    : loop_(loop),
      folder_(std::move(folder)),
      written_(std::move(written)),
      watch_(watch_folder(folder_)),
      watch_id_(loop.watch_file(watch_.get(), [this] { look(); })) {}

NotesFolder::~NotesFolder() { loop_.cancel(watch_id_); }

// Reads and discards the events, and searches the folder for new files. The kernel may drop events if there are too
// many, but the files exist nevertheless.
void NotesFolder::look() {
  alignas(inotify_event) char events[16384];
  while (::read(watch_.get(), events, sizeof events) > 0) {
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(kDraft) || known_.contains(name)) continue;
    const std::uintmax_t bytes = entry.file_size(error);
    if (error) continue;
    check_may_travel(name, bytes);
    known_.insert(name);
    report(name);
  }
}

/// If a note could not be copied to the other hosts, ranks there would wait for it in vain.
void NotesFolder::check_may_travel(const std::string& name, std::uintmax_t bytes) const {
  if (is_note_name(name) && bytes <= kMostNoteBytes && known_.size() < kMostNotes) return;
  throw Error(Code::kUnsupported,
              "the note '{}' of {} bytes cannot be carried to other hosts; at most {} notes are, with names of at most "
              "{} letters, digits and the characters _-.+ and at most {} bytes each",
              printable_line(name), bytes, kMostNotes, kMostNameBytes, kMostNoteBytes);
}

void NotesFolder::report(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(folder_ + "/" + name, std::ios::binary).rdbuf();
  written_({name, text.str()});
}

void NotesFolder::add(const HostNote& note) {
  if (!is_note_name(note.name) || note.text.size() > kMostNoteBytes || known_.size() >= kMostNotes) {
    throw Error(Code::kCorrupt, "the note '{}' of {} bytes is not allowed", printable_line(note.name.substr(0, 200)),
                note.text.size());
  }
  if (!known_.insert(note.name).second) return;
  std::string key = note.name;
  std::ranges::replace(key, '+', '/');
  core::make_folder_rendezvous(folder_)->put(key, note.text);
}

}  // namespace trainyard::launch
