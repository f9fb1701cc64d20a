// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace trainyard::viewer {

/// The newest graph of one run, and whether somebody is looking at it. To keep it up to date, the components have to
/// measure how they spend their time, so a source updates it only while somebody looks.
class GraphShelf {
 public:
  void set(nlohmann::json graph);

  /// Returns the graph, or null if the components are not known. The call counts as a look.
  nlohmann::json look() const;
  /// Returns true if somebody has requested the graph, or news of it, within the last few seconds.
  bool is_watched() const;

  /// Appends a push that contains the graph, unless its number is `position`, and sets `position` to its number. The
  /// first graph has the number 1. The call counts as a look.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  using Clock = std::chrono::steady_clock;

  nlohmann::json graph_;
  std::uint64_t number_ = 0;
  mutable Clock::time_point looked_;  ///< When somebody last looked at the graph.
};

}  // namespace trainyard::viewer
