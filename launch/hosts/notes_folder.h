// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "launch/hosts/messages.h"
#include "launch/run/file_descriptor.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// One host's folder of notes (core/rendezvous), as seen from outside. The ranks of a run find each other through
/// notes, which are files in the run directory. With one object of this class on each host, every note gets into the
/// folders of all hosts, so ranks do not have to know that there are other hosts.
class NotesFolder {
 public:
  /// Makes the folder and watches it. Calls `written` with every note that a process of this host writes. Throws kIo.
  NotesFolder(PollLoop& loop, std::string folder, std::function<void(const HostNote&)> written);
  ~NotesFolder();
  NotesFolder(const NotesFolder&) = delete;
  NotesFolder& operator=(const NotesFolder&) = delete;

  /// Adds a note of another host. Throws kCorrupt if it is no note that a rank can write, and kIo if it cannot be
  /// written.
  void add(const HostNote& note);

 private:
  void look();
  void report(const std::string& name);

  PollLoop& loop_;
  std::string folder_;
  std::function<void(const HostNote&)> written_;
  std::set<std::string> known_;  ///< The notes that have been reported or come from other hosts.
  FileDescriptor watch_;
  PollLoop::Id watch_id_;
};

}  // namespace trainyard::launch
