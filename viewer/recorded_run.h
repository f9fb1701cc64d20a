// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "recordings/mcap_reader.h"
#include "viewer/book.h"
#include "viewer/past_run.h"

namespace trainyard::viewer {

/// A run that is read from its recording (docs/record_a_run.md), which consists of one file and the files that continue
/// it.
class RecordedRun {
 public:
  /// Opens the file and the parts that follow it, and reads what describes them. Throws as McapReader does, and
  /// kInvalidArgument if the file was not recorded from a run of Trainyard.
  explicit RecordedRun(const std::string& path);

  /// Returns the names of the run. The directory is the path of the recording.
  Identity identity() const;
  /// Returns the phase kRecording, with a text that says why the recording ended and what is missing in it.
  Ending ending() const;
  /// The components, and the edges between them with their mean rates, in the form of docs/viewer_protocol.md.
  nlohmann::json graph() const;
  /// Enters the metrics, the log records, the predictions, and the alerts that follow from the metrics. Messages that
  /// cannot be understood are left out, and the log of the book says how many.
  void read(Book& book, const std::stop_token& stop) const;

 private:
  std::deque<recordings::McapReader> parts_;
};

/// Returns the paths of the recordings in a folder, in the order of their names.
std::vector<std::string> recordings_in(const std::string& folder);

}  // namespace trainyard::viewer
