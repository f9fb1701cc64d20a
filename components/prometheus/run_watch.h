// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "components/prometheus/exposition.h"
#include "components/prometheus/last_metrics.h"
#include "components/prometheus/run_counters.h"
#include "visitors/run_info.h"

namespace trainyard::prometheus {

/// Watches a run on a separate thread with a low priority, as a program outside the run would, and returns what it has
/// seen as a text for Prometheus. It listens to the topic `/metrics`, and once a second asks the run's registry (the
/// socket at which the launcher answers questions) for statistics. The components of the run measure how they spend
/// their time only if Prometheus has scraped within the last kAccountingTime.
class RunWatch {
 public:
  static constexpr std::chrono::minutes kAccountingTime{5};

  /// If the run cannot be watched, for instance because the launcher does not answer, the thread of this object calls
  /// `complain` with the reason, once for each new reason.
  RunWatch(visitors::RunInfo run, std::function<void(const std::string&)> complain);
  /// Ends the thread. This may take a few seconds if the launcher is suspended.
  ~RunWatch();

  /// Returns the text that answers a scrape of Prometheus, in the format `form`. If the launcher has not answered for
  /// 10 seconds, the text contains no statistics of components, edges and processes. Any thread may call this function.
  std::string scrape(Form form);

 private:
  using Clock = std::chrono::steady_clock;
  class Session;

  void run(const std::stop_token& stop);
  bool is_scraped() const;

  visitors::RunInfo run_;
  std::function<void(const std::string&)> complain_;
  std::atomic<Clock::time_point> last_scrape_{Clock::time_point::min()};
  std::mutex mutex_;  ///< Protects the members below.
  LastMetrics metrics_;
  RunCounters counters_;
  std::optional<Clock::time_point> last_answer_;  ///< When the launcher last answered a question.
  std::jthread thread_;
};

}  // namespace trainyard::prometheus
