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

/// A run that is shown from its recording (docs/record_a_run.md). The recording is one file, or a series of files.
class RecordedRun {
 public:
  /// Opens all files of the recording, of which `path` is the first, and reads their descriptions. Throws what the
  /// constructor of McapReader throws, and kInvalidArgument if the file is not a recording of a Trainyard run.
  explicit RecordedRun(const std::string& path);

  /// Returns the identity of the run. Its `directory` is the path of the recording.
  Identity identity() const;
  /// Returns the phase kRecording, with a text that states why the recording ended and what is missing from it.
  Ending ending() const;
  /// Returns the components, and the edges between them with their mean rates, in the form that docs/viewer_protocol.md
  /// describes.
  nlohmann::json graph() const;
  /// Enters the metrics, the log records, the samples, the histograms, the confusion matrices, and the alerts that
  /// follow from the metrics into the book, which holds everything that the viewer knows about the run. Stops early if
  /// `stop` is requested. Malformed messages are left out; if there are any, the function throws kCorrupt at the end,
  /// and the error text states how many.
  void read(Book& book, const std::stop_token& stop) const;

 private:
  std::deque<recordings::McapReader> parts_;
};

/// Returns the paths of the recordings in a folder, that is, of all files named *.mcap, sorted. Every file of a series
/// is listed.
std::vector<std::string> recordings_in(const std::string& folder);

}  // namespace trainyard::viewer
