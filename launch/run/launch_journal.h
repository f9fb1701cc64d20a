// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "archive/launch_record.h"
#include "launch/run/git_question.h"
#include "launch/run/run_context.h"
#include "launch/run/run_outcome.h"

namespace trainyard::launch {

/// Records in the output directory what a run consisted of and how it ended. A record is a folder `launches/<number>/`
/// with launch.json, plan.json and copies of the launch files (archive/launch_record.h). The records of earlier
/// launches in the directory are kept.
///
/// If the disk is full or read-only, this is reported once and does not affect the run. Does nothing if the plan has no
/// output directory.
class LaunchJournal {
 public:
  explicit LaunchJournal(RunContext& run);

  /// Writes the record with the state "running", and asks git for the commit in the background.
  void begin();

  /// Adds the end of the run to the record.
  void end(const RunOutcome& outcome);

 private:
  void make_folder();
  void copy_sources();
  // Writes launch.json again. Throws kIo.
  void write() const;
  void ask_git();
  void warn(const std::string& reason);

  RunContext& run_;
  archive::LaunchRecord record_;
  std::string folder_;  ///< The folder of this launch; empty if nothing can be recorded.
  bool warned_ = false;
  std::unique_ptr<GitQuestion> git_;
};

}  // namespace trainyard::launch
