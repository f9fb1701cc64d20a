// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "devices/block.h"
#include "devices/fence.h"
#include "devices/link_bytes.h"

namespace trainyard::devices {

class Device;

/// A sequence of operations that a device carries out in the order in which they were submitted. Operations of
/// different streams have no order unless fences define one.
///
/// Submitting returns immediately; the operation keeps the memory on which it works alive. If an operation fails, the
/// stream fails, and every later call throws its error. Only one thread at a time may use a stream.
///
/// The public functions check the arguments and count the bytes that are copied between host and device. A driver
/// implements the protected functions.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Returns the stream's name, for timelines and errors.
  const std::string& name() const { return name_; }

  /// Submit a copy between host and device. Until the copy is done, the host memory must not be changed, and in the
  /// case of to_host() not be read. Throw kInternal if the sizes differ, or if the region belongs to another device.
  void to_device(const Region& to, const HostRegion& from, Purpose purpose);
  void to_host(const HostRegion& to, const Region& from, Purpose purpose);

  /// Submits a copy within the device. The regions must not overlap.
  void copy(const Region& to, const Region& from);
  /// Submits an operation that sets all bytes of the region to zero.
  void zero(const Region& region);

  /// Submits a signal: the fence gets the value when all earlier operations of this stream are done.
  void signal(std::shared_ptr<Fence> fence, std::uint64_t value) { submit_signal(std::move(fence), value); }
  /// Submits a wait: later operations of this stream begin only when the fence has reached the value.
  void wait(std::shared_ptr<Fence> fence, std::uint64_t value) { submit_wait(std::move(fence), value); }

  /// Submits a call of `callback`, which a thread of the driver makes when all earlier operations are done. `callback`
  /// must be short, must not throw and must not use the device; usually it posts a task to an event loop.
  void then(std::function<void()> callback) { submit_call(std::move(callback)); }

  /// Makes the host wait until all operations are done. Throws the error of an operation that has failed. Throws
  /// kTimeout, naming the current operation, if this takes longer than `limit`.
  virtual void drain(std::chrono::milliseconds limit) = 0;

 protected:
  Stream(Device& device, std::string name) : device_(device), name_(std::move(name)) {}

  Device& device() const { return device_; }
  /// Throws kInternal if the region belongs to another device.
  void check(const Region& region) const;

  virtual void submit_to_device(const Region& to, const HostRegion& from, Purpose purpose) = 0;
  virtual void submit_to_host(const HostRegion& to, const Region& from, Purpose purpose) = 0;
  virtual void submit_copy(const Region& to, const Region& from) = 0;
  virtual void submit_zero(const Region& region) = 0;
  virtual void submit_signal(std::shared_ptr<Fence> fence, std::uint64_t value) = 0;
  virtual void submit_wait(std::shared_ptr<Fence> fence, std::uint64_t value) = 0;
  virtual void submit_call(std::function<void()> callback) = 0;

 private:
  Device& device_;
  std::string name_;
};

}  // namespace trainyard::devices
