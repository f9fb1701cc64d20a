// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "devices/test_device/test_stream.h"

namespace trainyard::test_device {

/// A stream of a test device that carries out each operation within the call, on the calling thread. It represents the
/// stream of a library, such as LibTorch, whose kernels also run within the call. So kernels and operations run in the
/// order of the calls. If an operation fails, the call that submitted it throws the error, too.
class ImmediateStream final : public TestStream {
 public:
  /// How long a wait for a fence may take. If a process ends before it signals, the thread must not wait forever.
  static constexpr std::chrono::milliseconds kLimit{60'000};

  ImmediateStream(TestDevice& device, std::string name, std::chrono::milliseconds limit = kLimit);

  /// Calls `copy`, a function that copies `bytes` bytes over the link for a library. `what` is kToDevice or kToHost.
  /// The call takes at least as long as the simulated link needs for these bytes. The bytes are counted in
  /// TestDevice::crossed(), but not in Device::link_bytes(), because the library does not know the purpose of the copy.
  /// Unlike the other functions, this one can be called by several threads at a time, and an exception that `copy`
  /// throws does not make later operations of the stream fail.
  void copy_for_library(const char* what, std::size_t bytes, const std::function<void()>& copy);

  void drain(std::chrono::milliseconds limit) override;

 protected:
  void submit(Operation operation) override;
  /// Waits until the fence has reached the value. Throws kTimeout if that takes longer than the limit given to the
  /// constructor.
  void submit_wait(std::shared_ptr<devices::Fence> fence, std::uint64_t value) override;

 private:
  void carry_out(const Operation& operation);
  void throw_if_failed() const;

  std::chrono::milliseconds limit_;
  std::exception_ptr failure_;
};

}  // namespace trainyard::test_device
