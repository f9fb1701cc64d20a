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

/// Watches a run as a visitor, on a separate thread with a low priority, and describes what it has seen. It listens to
/// `/metrics`, and asks the registry once a second. It lets the components measure how they spend their time only while
/// somebody scrapes, and for kAccountingTime after that.
class RunWatch {
 public:
  static constexpr std::chrono::minutes kAccountingTime{5};

  /// `complain` is called on the thread of this object when watching fails, once for each new reason.
  RunWatch(visitors::RunInfo run, std::function<void(const std::string&)> complain);
  /// Ends the thread. This may take some seconds if the launcher is suspended.
  ~RunWatch();

  /// Returns the text that answers a scrape. Any thread may call this.
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
