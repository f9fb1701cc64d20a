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

  /// Takes spans until `enough` returns true. Throws kTimeout if no training step ends for `patience`, and kNotFound if
  /// the run ends before. `what` says in these errors what is missing.
  void collect_until(const std::function<bool()>& enough, std::chrono::duration<double> patience,
                     const std::string& what);
  /// Takes the spans that processes have recorded already and not published yet.
  void collect_rest();

 private:
  void wait_for_all_processes();
  // Returns false if nothing arrived in time.
  bool take(std::chrono::milliseconds deadline);

  timeline::Timeline& timeline_;
  zmq::context_t sockets_;
  visitors::Watch watch_;
};

/// Processes and their event loops begin to record one after another, so the first steps of a recording lack spans.
/// Returns the last of these steps: it began at most 0.2 s after the first step that follows `after`. 0 if there is
/// none.
std::uint64_t last_step_of_the_beginning(const timeline::Timeline& timeline, std::uint64_t after = 0);

/// Tells the user on stderr if the timeline lacks spans.
void report_lost(const timeline::Timeline& timeline);

}  // namespace trainyard::tools
