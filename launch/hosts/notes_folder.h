// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "launch/hosts/messages.h"
#include "launch/run/file_descriptor.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// The folder of notes (core/rendezvous) of one host. The ranks of a run find each other through notes, which are files
/// in the run directory. Every host has an object of this class, and together these objects copy every note to all
/// hosts. So the ranks need not know that there are other hosts.
class NotesFolder {
 public:
  /// Makes the folder and watches it. Calls `written` with every note that a process of this host writes. If a note
  /// cannot be copied to other hosts because of its name or its size, or because there are too many notes, the loop's
  /// run() throws kUnsupported. Throws kIo if the folder cannot be made or watched.
  NotesFolder(PollLoop& loop, std::string folder, std::function<void(const HostNote&)> written);
  ~NotesFolder();
  NotesFolder(const NotesFolder&) = delete;
  NotesFolder& operator=(const NotesFolder&) = delete;

  /// Writes a note of another host into the folder. Throws kCorrupt if the name or the size of the note is not allowed
  /// or there are too many notes, and kIo if the file cannot be written.
  void add(const HostNote& note);

 private:
  void look();
  // Throws kUnsupported unless a note of this name and size can be copied to other hosts.
  void check_may_travel(const std::string& name, std::uintmax_t bytes) const;
  void report(const std::string& name);

  PollLoop& loop_;
  std::string folder_;
  std::function<void(const HostNote&)> written_;
  std::set<std::string> known_;  ///< The names of the notes that have been reported, and of those from other hosts.
  FileDescriptor watch_;
  PollLoop::Id watch_id_;
};

}  // namespace trainyard::launch
