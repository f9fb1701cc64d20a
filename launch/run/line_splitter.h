// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace trainyard::launch {

/// Divides a stream of bytes into lines. A line that grows longer than `kLongest` bytes is passed on in parts, so that
/// a program that prints no newlines cannot fill the launcher's memory.
class LineSplitter {
 public:
  static constexpr std::size_t kLongest = 16384;
  using Take = std::function<void(std::string_view line)>;

  /// Calls `take` for every line that `bytes` completes, without its "\n" or "\r\n".
  void feed(std::string_view bytes, const Take& take);

  /// Ends the stream. Passes the unfinished last line to `take`, unless it is empty.
  void finish(const Take& take);

 private:
  std::string begun_;  ///< The bytes of the line that is not complete yet.
};

/// The last `most` lines that a process has printed, for the report of a failure.
class LastLines {
 public:
  explicit LastLines(std::size_t most) : most_(most) {}

  void add(std::string_view line) {
    lines_.emplace_back(line);
    if (lines_.size() > most_) lines_.pop_front();
  }
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  std::size_t most_;
  std::deque<std::string> lines_;
};

}  // namespace trainyard::launch
