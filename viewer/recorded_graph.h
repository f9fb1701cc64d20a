// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "recordings/contents.h"

namespace trainyard::viewer {

/// The number of messages of each topic and sender in a recording, and the time that the recording covers.
struct RecordedTraffic {
  struct Sender {
    std::string process;
    std::uint64_t messages = 0;
  };

  std::map<std::pair<std::string, std::string>, Sender> senders;  ///< The keys are pairs of topic and component.
  std::uint64_t start_ns = 0, end_ns = 0;

  /// Adds the contents of one file of the recording.
  void add(const recordings::Contents& contents);
  /// Returns the average number of messages per second that `component` sent on `topic`, or an empty optional if the
  /// recording contains none of them or has no duration.
  std::optional<double> rate(const std::string& topic, const std::string& component) const;
};

/// Returns the graph in the form that docs/viewer_protocol.md describes. `components` is the value of
/// recordings::kComponentsKey in the recording. If it is empty, as in recordings made by earlier versions of Trainyard,
/// the graph contains all components that have sent messages, and no edges.
nlohmann::json graph_of_recording(const std::string& components, const RecordedTraffic& traffic);

}  // namespace trainyard::viewer
