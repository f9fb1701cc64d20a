// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace trainyard::viewer {

/// The newest graph of one run, with the activity of its components, and whether somebody is looking at it. The
/// components measure how they spend their time only while somebody looks at the graph.
class GraphShelf {
 public:
  void set(nlohmann::json graph);

  /// Returns the graph, or null if nothing is known about the components. This counts as looking at the graph; see
  /// is_watched().
  nlohmann::json look() const;
  /// Returns true if somebody is looking at the graph, that is, if look() or append_news() was called within the last
  /// few seconds.
  bool is_watched() const;

  /// Appends the newest graph to `news`, as one message for a browser page (a "push" in docs/viewer_protocol.md), and
  /// sets `position` to its number; graphs are numbered from 1. Does nothing if `position` already is this number. In
  /// either case, this counts as looking at the graph; see is_watched().
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  using Clock = std::chrono::steady_clock;

  nlohmann::json graph_;
  std::uint64_t number_ = 0;
  mutable Clock::time_point looked_;  ///< When somebody last looked at the graph.
};

}  // namespace trainyard::viewer
