// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "timeline/timeline.h"
#include "visitors/watch.h"

namespace trainyard::tools {

/// Receives the spans of a running launch: what its components did, what they waited for, and when. The processes of
/// the launch record spans as long as this object exists.
class SpanRecording {
 public:
  /// Attaches to the run. If `operations` is true, the processes of the run also record the operations of LibTorch,
  /// which slows them down. The spans are added to `timeline`, which must outlive this object.
  SpanRecording(visitors::RunInfo run, timeline::Timeline& timeline, bool operations);

  /// Receives spans until `enough` returns true. Throws kTimeout if no training step ends for longer than `patience`,
  /// kNotFound if the run ends first, and kPeerLost if the run is killed first. `what` completes the error message "the
  /// run ... ended before ...", for example with "10 training steps were profiled".
  void collect_until(const std::function<bool()>& enough, std::chrono::duration<double> patience,
                     const std::string& what);
  /// Throws kUnsupported if the timeline has dropped spans of this recording, because there were too many. `what` is
  /// the same as in collect_until().
  void require_all_kept(const std::string& what) const;
  /// Receives, for up to 0.7 s, the spans that the processes have already recorded but not yet published.
  void collect_rest();

 private:
  void wait_for_all_processes();
  // Adds the next message to the timeline. Returns false if no message arrives within `deadline`.
  bool take(std::chrono::milliseconds deadline);

  timeline::Timeline& timeline_;
  std::uint64_t before_;  ///< The number of spans that were added to the timeline before this recording.
  zmq::context_t sockets_;
  visitors::Watch watch_;
};

/// Returns the last step that may be incomplete because recording had just begun, for use as the argument `after` of
/// timeline::find_steps(). Returns 0 if no step after `after` has ended yet. If the timeline already contains an
/// earlier recording, `after` is the last step of that recording. The processes do not begin to record at the same
/// moment, so spans may be missing from any step that began within 0.2 s of the first step after `after`.
std::uint64_t last_step_of_the_beginning(const timeline::Timeline& timeline, std::uint64_t after = 0);

/// Prints a message to stderr if spans are missing from the timeline.
void report_lost(const timeline::Timeline& timeline);

}  // namespace trainyard::tools
