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

/// The spans of a running launch. Its processes record them as long as this object exists.
class SpanRecording {
 public:
  /// Attaches to the run. If `operations` is true, its processes also record the operations of LibTorch, which makes
  /// them slower. The spans are added to `timeline`, which must outlive this object.
  SpanRecording(visitors::RunInfo run, timeline::Timeline& timeline, bool operations);

  /// Receives spans until `enough` returns true. Throws kTimeout if no training step ends for the time `patience`, and
  /// kNotFound if the run ends before. `what` names in these errors what is missing.
  void collect_until(const std::function<bool()>& enough, std::chrono::duration<double> patience,
                     const std::string& what);
  /// Receives the spans that processes have recorded but not published yet.
  void collect_rest();

 private:
  void wait_for_all_processes();
  // Returns false if nothing arrived in time.
  bool take(std::chrono::milliseconds deadline);

  timeline::Timeline& timeline_;
  zmq::context_t sockets_;
  visitors::Watch watch_;
};

/// Returns the last step of which spans may be missing, because the processes and their event loops begin to record one
/// after another. This is the last step that began within 0.2 s after the first step that follows `after`; 0 if there
/// is none.
std::uint64_t last_step_of_the_beginning(const timeline::Timeline& timeline, std::uint64_t after = 0);

/// Tells the user on stderr if the timeline lacks spans.
void report_lost(const timeline::Timeline& timeline);

}  // namespace trainyard::tools
