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
  // Returns false if nothing arrived in time.
  bool take(std::chrono::milliseconds deadline);

  timeline::Timeline& timeline_;
  zmq::context_t sockets_;
  visitors::Watch watch_;
};

/// Tells the user on stderr if the timeline lacks spans.
void report_lost(const timeline::Timeline& timeline);

}  // namespace trainyard::tools
