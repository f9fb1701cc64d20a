// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "launch/run/file_descriptor.h"
#include "launch/run/line_splitter.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// One of the two streams that a process prints to, cut into lines. It can be opened again after it was closed.
class OutputStream {
 public:
  using Take = LineSplitter::Take;

  OutputStream(PollLoop& loop, Take take);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  /// Takes lines from `file`, which must not block, as they come.
  void open(FileDescriptor file);

  /// Takes what lies in the pipe, up to a limit. Does nothing if it is closed or has ended.
  void read_now();

  /// Takes what lies in the pipe and closes it.
  void close();

 private:
  void stop_watching();

  PollLoop& loop_;
  Take take_;
  FileDescriptor file_;
  PollLoop::Id watch_ = 0;
  LineSplitter lines_;
};

/// What a process prints, on both streams and through all its restarts.
class ProcessOutput {
 public:
  using OnLine = std::function<void(std::string_view line, bool from_stderr)>;

  ProcessOutput(PollLoop& loop, OnLine on_line);

  /// Takes lines from the two pipes of a process that has just started.
  void open(FileDescriptor out, FileDescriptor err);

  /// Takes what has been printed so far, without waiting for the poll loop.
  void read_now();

  /// Takes the rest and closes both pipes.
  void close();

  /// What was printed last, on both streams. A restart does not clear it.
  const std::deque<std::string>& last_lines() const { return last_lines_.lines(); }

 private:
  OnLine on_line_;
  LastLines last_lines_{20};
  OutputStream out_;
  OutputStream err_;
};

}  // namespace trainyard::launch
