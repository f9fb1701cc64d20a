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

/// One of the two output streams of a process, cut into lines. It can be opened again after it was closed.
class OutputStream {
 public:
  using Take = LineSplitter::Take;

  OutputStream(PollLoop& loop, Take take);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  /// Reads lines from `file`, which must be non-blocking, as they arrive.
  void open(FileDescriptor file);

  /// Reads what is in the pipe, up to a limit. Does nothing if the stream is closed or has ended.
  void read_now();

  /// Reads what is in the pipe, up to a limit, and closes the pipe.
  void close();

 private:
  void stop_watching();

  PollLoop& loop_;
  Take take_;
  FileDescriptor file_;
  PollLoop::Id watch_ = 0;
  LineSplitter lines_;
};

/// Reads what a process prints, on both streams and through all its restarts.
class ProcessOutput {
 public:
  using OnLine = std::function<void(std::string_view line, bool from_stderr)>;

  ProcessOutput(PollLoop& loop, OnLine on_line);

  /// Reads lines from the two pipes of a process that has just started.
  void open(FileDescriptor out, FileDescriptor err);

  /// Reads what has been printed so far, without waiting for the poll loop.
  void read_now();

  /// Reads the rest and closes both pipes.
  void close();

  /// Returns the lines that were printed last, on both streams. A restart does not clear them.
  const std::deque<std::string>& last_lines() const { return last_lines_.lines(); }

 private:
  OnLine on_line_;
  LastLines last_lines_{20};
  OutputStream out_;
  OutputStream err_;
};

}  // namespace trainyard::launch
