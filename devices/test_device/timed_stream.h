// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "devices/test_device/test_stream.h"

namespace trainyard::test_device {

/// A stream of a test device: a thread that carries out one operation after another. Each operation takes at least the
/// time that results from the latency and the link speed in the options of the device.
class TimedStream final : public TestStream {
 public:
  TimedStream(TestDevice& device, std::string name);
  /// Discards the operations that have not begun or that wait for a fence. Call drain() first if all operations must be
  /// carried out.
  ~TimedStream() override;

  void drain(std::chrono::milliseconds limit) override;

 protected:
  void submit(Operation operation) override;
  void submit_wait(std::shared_ptr<devices::Fence> fence, std::uint64_t value) override;

 private:
  void work(const std::stop_token& stop);
  bool carry_out(const Operation& operation, const std::stop_token& stop);
  void fail(std::exception_ptr failure, const std::stop_token& stop);
  void take_time(const Operation& operation, const std::stop_token& stop);
  void throw_if_failed() const;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Operation> queue_;  ///< The first operation is the one being carried out.
  std::exception_ptr failure_;
  std::jthread thread_;  ///< The last data member, so that the thread ends before the others are destroyed.
};

}  // namespace trainyard::test_device
