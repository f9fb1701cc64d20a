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

/// For each topic and sender, how many messages a recording contains, and from which period they are.
struct RecordedTraffic {
  struct Sender {
    std::string process;
    std::uint64_t messages = 0;
  };

  std::map<std::pair<std::string, std::string>, Sender> senders;  ///< The senders, by topic and component.
  std::uint64_t start_ns = 0, end_ns = 0;

  /// Adds the contents of one file of the recording.
  void add(const recordings::Contents& contents);
  /// Returns the messages per second, or nothing if the recording has no duration or does not have the topic.
  std::optional<double> rate(const std::string& topic, const std::string& component) const;
};

/// Returns the graph of docs/viewer_protocol.md. `components` is the fact recordings::kComponentsKey. If it is empty,
/// as in recordings of earlier versions, the graph has the components that have sent anything, and no edges.
nlohmann::json graph_of_recording(const std::string& components, const RecordedTraffic& traffic);

}  // namespace trainyard::viewer
