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

/// One of the two output streams of a process, divided into lines. It can be opened again after it has been closed.
class OutputStream {
 public:
  using Take = LineSplitter::Take;

  OutputStream(PollLoop& loop, Take take);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  /// Opens the stream: reads lines from `file` as they arrive, and passes them to `take`. `file` must be non-blocking.
  void open(FileDescriptor file);

  /// Reads the bytes that are already in the pipe, up to a limit. Does nothing if the stream is closed or has ended.
  void read_now();

  /// Reads the bytes that are already in the pipe, up to a limit, and closes the stream.
  void close();

 private:
  void stop_watching();

  PollLoop& loop_;
  Take take_;
  FileDescriptor file_;
  PollLoop::Id watch_ = 0;
  LineSplitter lines_;
};

/// The output of a process: both its streams, through all restarts of the process.
class ProcessOutput {
 public:
  using OnLine = std::function<void(std::string_view line, bool from_stderr)>;

  ProcessOutput(PollLoop& loop, OnLine on_line);

  /// Starts reading lines from the two pipes of a process that has just been started.
  void open(FileDescriptor out, FileDescriptor err);

  /// Reads the output that is already in the pipes, without waiting for the poll loop.
  void read_now();

  /// Reads the rest and closes both pipes.
  void close();

  /// Adds a line that did not come through a pipe, because the process runs on another host.
  void add(std::string_view line, bool from_stderr);

  /// Returns the last lines that were printed, on both streams together. A restart does not clear them.
  const std::deque<std::string>& last_lines() const { return last_lines_.lines(); }

 private:
  OnLine on_line_;
  LastLines last_lines_{20};
  OutputStream out_;
  OutputStream err_;
};

}  // namespace trainyard::launch
