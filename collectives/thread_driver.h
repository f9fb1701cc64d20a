// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collectives/driver.h"

namespace trainyard::collectives {

/// A driver that carries out operations on a separate thread, so that they make progress while their caller computes.
class ThreadDriver final : public Driver {
 public:
  ThreadDriver(std::string where, std::unique_ptr<Engine> engine);
  /// Stops the thread and cancels the operations in progress.
  ~ThreadDriver() override;

  std::uint64_t ask(Operation&& operation) override;
  void wait(std::uint64_t number) override;
  bool done(std::uint64_t number) override;
  void progress() override;
  void fail(const Failure& failure) override;

 private:
  void run();
  bool go_on();
  void note_slowest(std::uint64_t waited);
  void publish();
  void throw_if_failed() const;

  std::mutex mutex_;  ///< Guards the fields below, up to `stop_`.
  std::condition_variable changed_;
  std::vector<Operation> asked_;
  std::set<std::uint64_t> unfinished_;
  std::uint64_t last_number_ = 0;
  std::optional<std::uint64_t> waited_;  ///< The number of the operation that the caller waits for.
  bool watched_ = false;  ///< True if the thread must determine `slowest_`, because somebody watches the run.
  std::optional<std::uint32_t> slowest_;  ///< The rank that operation `waited_` was last found to wait for.
  std::optional<Failure> reported_;       ///< The failure that the caller passed to fail().
  std::optional<Failure> failure_;
  bool stop_ = false;

  Agreement& agreement_;  ///< The engine's agreement, which wakes the thread. It exists until the thread has stopped.
  std::thread thread_;
};

}  // namespace trainyard::collectives
