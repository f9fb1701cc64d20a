// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "devices/stream.h"

namespace trainyard::test_device {

class TestDevice;

/// A stream of a test device: a thread that carries out one operation after another. Each operation takes at least the
/// time that results from the latency and the link speed in the options of the device.
class TimedStream final : public devices::Stream {
 public:
  TimedStream(TestDevice& device, std::string name);
  /// Discards the operations that have not begun or that wait for a fence. Call drain() first if all operations must be
  /// carried out.
  ~TimedStream() override;

  /// Submits a kernel, which is called with the bytes of each region, in the order of `regions`. The kernel may access
  /// no other memory of the device, and may access these bytes only while it runs. `what` is the name of the kernel,
  /// normally a string literal, because the text must exist until the process ends.
  void launch(const char* what, std::vector<devices::Region> regions,
              std::function<void(std::span<const std::span<std::byte>>)> kernel);

  void drain(std::chrono::milliseconds limit) override;

 protected:
  void submit_to_device(const devices::Region& to, const devices::HostRegion& from, devices::Purpose purpose) override;
  void submit_to_host(const devices::HostRegion& to, const devices::Region& from, devices::Purpose purpose) override;
  void submit_copy(const devices::Region& to, const devices::Region& from) override;
  void submit_zero(const devices::Region& region) override;
  void submit_signal(std::shared_ptr<devices::Fence> fence, std::uint64_t value) override;
  void submit_wait(std::shared_ptr<devices::Fence> fence, std::uint64_t value) override;
  void submit_call(std::function<void()> callback) override;

 private:
  struct Operation {
    const char* what = "";
    std::function<void(const std::stop_token&)> run;
    std::size_t link_bytes = 0;  ///< The number of bytes that are copied from or to the host.
    std::optional<devices::Purpose> purpose = {};
  };

  void submit(Operation operation);
  void work(const std::stop_token& stop);
  bool carry_out(const Operation& operation, const std::stop_token& stop);
  void take_time(const Operation& operation, const std::stop_token& stop);
  void throw_if_failed() const;
  TestDevice& test_device() const;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Operation> queue_;  ///< The first operation is the one being carried out.
  std::exception_ptr failure_;
  std::jthread thread_;  ///< The last data member, so that the thread ends before the others are destroyed.
};

}  // namespace trainyard::test_device
