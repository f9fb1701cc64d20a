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

/// A function that makes a request to the registry of a run, such as a change of a parameter. It may take long. It must
/// report its result and its errors itself; exceptions are ignored.
using Errand = std::function<void(visitors::RegistryClient& registry)>;

/// Carries out the errands of one run, one after another, on a separate thread.
class Errands {
 public:
  static constexpr std::size_t kMaxWaiting = 32;

  /// `registry` is the endpoint of the run's registry.
  explicit Errands(std::string registry);
  /// Ends the thread. This may take some seconds if the launcher is suspended.
  ~Errands();
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  /// Adds an errand to the queue. Returns false if too many errands wait, or after stop().
  bool post(Errand errand);
  /// Cancels the current errand and drops the others. Does not wait.
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
