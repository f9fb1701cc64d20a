// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "devices/stream.h"
#include "devices/test_device/done.h"

namespace trainyard::test_device {

class TestDevice;

/// One operation of a stream of a test device.
struct Operation {
  const char* what = "";  ///< The name of the operation, as in Done::what.
  /// The work. Only an operation that can take forever, such as a wait, needs the stop token.
  std::function<void(const std::stop_token&)> run;
  std::size_t link_bytes = 0;  ///< The number of bytes that are copied from or to the host.
  std::optional<devices::Purpose> purpose = {};
  bool after_failure = false;  ///< True if the operation is carried out even if an earlier one has failed.
};

/// The base class of the streams of a test device. It turns each function of devices::Stream into an operation. The
/// derived class determines when the operation is carried out.
class TestStream : public devices::Stream {
 public:
  /// A function that is called with the bytes of each region, in the order of the regions.
  using Kernel = std::function<void(std::span<const std::span<std::byte>>)>;

  /// Submits a kernel. The kernel may access no memory of the device except `regions`, and these only while it runs.
  /// `what` is the name of the kernel, normally a string literal, because the text must exist until the process ends.
  void launch(const char* what, std::vector<devices::Region> regions, Kernel kernel);

 protected:
  TestStream(TestDevice& device, std::string name);

  TestDevice& test_device() const;

  /// Carries out the operation, now or later, after all operations that were submitted before it.
  virtual void submit(Operation operation) = 0;
  /// Returns the time that the operation takes on the link, plus the latency.
  std::chrono::duration<double> time_of(const Operation& operation) const;

  void submit_to_device(const devices::Region& to, const devices::HostRegion& from, devices::Purpose purpose) override;
  void submit_to_host(const devices::HostRegion& to, const devices::Region& from, devices::Purpose purpose) override;
  void submit_copy(const devices::Region& to, const devices::Region& from) override;
  void submit_zero(const devices::Region& region) override;
  void submit_signal(std::shared_ptr<devices::Fence> fence, std::uint64_t value) override;
  void submit_call(std::function<void()> callback) override;
};

}  // namespace trainyard::test_device
