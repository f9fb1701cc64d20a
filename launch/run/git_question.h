// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "archive/launch_record.h"
#include "launch/run/file_descriptor.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// Asks the program `git` which commit is checked out in a folder, without blocking the loop. There is no answer if git
/// is not installed, if the folder is not in a repository, or if git does not finish by the deadline.
class GitQuestion {
 public:
  using Answer = std::function<void(archive::GitState state)>;

  /// Starts git in `folder`. `answer` is called at most once, from the loop, when git has answered.
  GitQuestion(PollLoop& loop, const std::string& folder, std::chrono::milliseconds deadline, Answer answer);
  /// Ends git if it is still running.
  ~GitQuestion();
  GitQuestion(const GitQuestion&) = delete;
  GitQuestion& operator=(const GitQuestion&) = delete;

 private:
  void read();
  void stop();

  PollLoop& loop_;
  Answer answer_;
  FileDescriptor process_;  ///< A pidfd of git. The pid alone could belong to another process once git has been reaped.
  FileDescriptor out_;
  PollLoop::Id watch_ = 0;
  PollLoop::Id deadline_ = 0;
  std::string text_;
};

/// Reads what `git status --porcelain=v2 --branch` has printed. Returns an empty optional if git has printed no commit,
/// as outside of a repository.
std::optional<archive::GitState> parse_git_status(std::string_view text);

}  // namespace trainyard::launch
