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

/// Something to ask of the registry of a run, such as to change a parameter. It may take long. What it throws is
/// ignored: it reports itself what concerns its sender.
using Errand = std::function<void(visitors::RegistryClient& registry)>;

/// Does the errands of one run, one after the other, on a thread of its own.
class Errands {
 public:
  static constexpr std::size_t kMaxWaiting = 32;

  /// `registry` is the endpoint of the run's registry.
  explicit Errands(std::string registry);
  /// Ends the thread. May take some seconds if the launcher is suspended.
  ~Errands();
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  /// Queues an errand. Returns false if too many wait, or after stop().
  bool post(Errand errand);
  /// Cancels the errand that is under way, and drops the others. Does not wait.
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
