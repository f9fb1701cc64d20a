// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace trainyard::viewer {

/// The newest picture of the components of one run, and whether somebody looks at it. To keep it up to date makes the
/// components account for their time, so a source does that only as long as somebody looks.
class GraphShelf {
 public:
  void set(nlohmann::json graph);

  /// Returns the graph, or null if nothing is known of the components. This counts as a look.
  nlohmann::json look() const;
  /// Returns whether somebody looks at the graph now: has asked for it, or for news of it, within the last seconds.
  bool is_watched() const;

  /// Appends the push with the graph if it is not the one with number `position`, and moves the position. The first
  /// graph has the number 1. This counts as a look.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  using Clock = std::chrono::steady_clock;

  nlohmann::json graph_;
  std::uint64_t number_ = 0;
  mutable Clock::time_point looked_;  ///< When somebody last looked at the graph.
};

}  // namespace trainyard::viewer
