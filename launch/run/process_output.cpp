// SPDX-License-Identifier: Apache-2.0
#include "launch/run/process_output.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace trainyard::launch {

OutputStream::OutputStream(PollLoop& loop, Take take) : loop_(loop), take_(std::move(take)) {}

OutputStream::~OutputStream() { stop_watching(); }

// The line splitter is not reset. After a restart, it still contains the unfinished line of the previous process.
void OutputStream::open(FileDescriptor file) {
  file_ = std::move(file);
  watch_ = loop_.watch_file(file_.get(), [this] { read_now(); });
}

void OutputStream::read_now() {
  if (watch_ == 0) return;
  // Reads at most as much as a pipe can contain, so that a process that prints all the time does not block the
  // launcher.
  constexpr int kPartsAtATime = 16;
  char part[4096];
  for (int i = 0; i < kPartsAtATime; ++i) {
    const ssize_t got = ::read(file_.get(), part, sizeof part);
    if (got > 0) {
      lines_.feed({part, static_cast<std::size_t>(got)}, take_);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      lines_.finish(take_);
      return stop_watching();
    } else {
      return;
    }
  }
}

// Children of the process may still have the other end open. What they print from now on is not shown.
void OutputStream::close() {
  read_now();
  stop_watching();
  file_.reset();
}

void OutputStream::stop_watching() { loop_.cancel(std::exchange(watch_, 0)); }

// The last lines are kept for the report of a failure, because by then they may no longer be visible on the terminal.
ProcessOutput::ProcessOutput(PollLoop& loop, OnLine on_line)
    : on_line_(std::move(on_line)),
      out_(loop, [this](std::string_view line) { add(line, false); }),
      err_(loop, [this](std::string_view line) { add(line, true); }) {}

void ProcessOutput::add(std::string_view line, bool from_stderr) {
  last_lines_.add(line);
  on_line_(line, from_stderr);
}

void ProcessOutput::open(FileDescriptor out, FileDescriptor err) {
  out_.open(std::move(out));
  err_.open(std::move(err));
}

void ProcessOutput::read_now() {
  out_.read_now();
  err_.read_now();
}

void ProcessOutput::close() {
  out_.close();
  err_.close();
}

}  // namespace trainyard::launch
