// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "visitors/registry_client.h"

namespace trainyard::foxglove {

/// What must be asked of the run for clients, one after the other, on a thread of its own: the run may take long to
/// answer, for instance if the ranks have to pause before a parameter is changed.
class Errands {
 public:
  /// An errand reports errors of the run itself; an exception is ignored.
  using Errand = std::function<void(visitors::RegistryClient& registry)>;
  static constexpr std::size_t kMost = 64;

  /// `endpoint` is the address of the registry.
  explicit Errands(std::string endpoint);
  /// Waits for the errand that is being done; the others are not done. May take some seconds if the run does not
  /// answer.
  ~Errands();
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  /// Queues an errand. Any thread may call this. Throws kUnsupported if kMost errands wait.
  void post(Errand errand);

 private:
  void run();
  bool next(Errand& errand);

  std::string endpoint_;
  std::mutex mutex_;  ///< Protects what follows, except for the thread.
  std::condition_variable changed_;
  std::deque<Errand> waiting_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace trainyard::foxglove
