// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <zmq.hpp>

#include "tools/trainyard/top_view.h"
#include "visitors/watch.h"

namespace trainyard::tools {

/// Follows the progress of training by means of the metrics that the run publishes, if it publishes any.
class TopProgress {
 public:
  TopProgress(zmq::context_t& context, const visitors::RunInfo& run);

  /// Processes the metrics that have arrived and those that arrive within `time`. Returns when `time` has passed.
  void listen(std::chrono::milliseconds time);

  const TopHeadline& headline() const { return headline_; }
  /// Returns true if the launcher is known to have died before the end of the run.
  bool killed() const { return watch_ && watch_->killed(); }

 private:
  void take(const nlohmann::json& metrics);
  void take_loss(const nlohmann::json& values);

  TopHeadline headline_;
  std::optional<visitors::Watch> watch_;
  /// The number of samples or tokens in the newest metrics that have arrived.
  std::optional<std::uint64_t> units_;
  std::uint64_t time_ns_ = 0;  ///< When the newest metrics were sent.
};

}  // namespace trainyard::tools
