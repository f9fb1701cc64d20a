// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "timeline/timeline.h"
#include "visitors/watch.h"

namespace trainyard::tools {

/// Receives the spans of a running launch. The processes of the launch record spans as long as this object exists.
class SpanRecording {
 public:
  /// Attaches to the run. If `operations` is true, the processes of the run also record the operations of LibTorch,
  /// which makes them slower. The spans are added to `timeline`, which must outlive this object.
  SpanRecording(visitors::RunInfo run, timeline::Timeline& timeline, bool operations);

  /// Receives spans until `enough` returns true. Throws kTimeout if no training step ends within `patience`, and
  /// kNotFound if the run ends first. `what` states in the error message what is missing.
  void collect_until(const std::function<bool()>& enough, std::chrono::duration<double> patience,
                     const std::string& what);
  /// Receives the spans that the processes have already recorded but not yet published.
  void collect_rest();

 private:
  void wait_for_all_processes();
  // Returns false if nothing arrived in time.
  bool take(std::chrono::milliseconds deadline);

  timeline::Timeline& timeline_;
  zmq::context_t sockets_;
  visitors::Watch watch_;
};

/// Returns the last of the first steps after `after`, from which spans may be missing, or 0 if there are no steps after
/// `after`. The processes and their event loops do not begin recording at the same moment, so steps that began within
/// 0.2 s of the first one may be incomplete.
std::uint64_t last_step_of_the_beginning(const timeline::Timeline& timeline, std::uint64_t after = 0);

/// Prints a message to stderr if spans are missing from the timeline.
void report_lost(const timeline::Timeline& timeline);

}  // namespace trainyard::tools
