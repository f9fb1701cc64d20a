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

/// Passes requests of clients to the run, one after another, on a separate thread, because the run may take a long time
/// to answer. For instance, all ranks may have to pause before a parameter is changed.
class Errands {
 public:
  /// A function that makes a request through `registry` and passes on the answer, even if it is an error. Exceptions
  /// that the function throws are ignored.
  using Errand = std::function<void(visitors::RegistryClient& registry)>;
  static constexpr std::size_t kMost = 64;

  /// `endpoint` is the address of the run's registry, the socket at which the launcher answers requests.
  explicit Errands(std::string endpoint);
  /// Drops the errands in the queue, and waits until the current one is done. This may take a few seconds if the run
  /// does not answer.
  ~Errands();
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  /// Adds an errand to the queue. Any thread may call this function. Throws kUnsupported if the queue already contains
  /// kMost errands.
  void post(Errand errand);

 private:
  void run();
  bool next(Errand& errand);

  std::string endpoint_;
  std::mutex mutex_;  ///< Protects the members below, except for the thread.
  std::condition_variable changed_;
  std::deque<Errand> waiting_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace trainyard::foxglove
