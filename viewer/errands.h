// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "visitors/registry_client.h"

namespace trainyard::viewer {

/// A task that sends requests to the registry of a run (the socket at which the launcher answers them), for instance to
/// change a parameter. It may take a long time. Exceptions that an errand throws are ignored, so the errand itself must
/// report errors to the page that requested it.
using Errand = std::function<void(visitors::RegistryClient& registry)>;

/// Runs the errands of one run, one after another, on a separate thread.
class Errands {
 public:
  static constexpr std::size_t kMaxWaiting = 32;

  /// `registry` is the endpoint of the run's registry.
  explicit Errands(std::string registry);
  /// Ends the thread. This may take a few seconds if the launcher is suspended.
  ~Errands();
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  /// Queues an errand. Returns false, and drops the errand, if too many errands are waiting or stop() has been called.
  bool post(Errand errand);
  /// Cancels the errand that is running, and drops those that are waiting. Returns without waiting for the thread.
  void stop();

 private:
  void work();

  std::string registry_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Errand> waiting_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trainyard::viewer
