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

/// A sequence of operations that a device carries out in the order in which they are submitted. Operations of different
/// streams can run in any order and at the same time, except where fences impose an order.
///
/// Submitting an operation returns immediately, and the operation keeps the memory on which it works alive. If an
/// operation fails, every later call to this stream throws the error of that operation. Only one thread at a time may
/// use a stream.
///
/// The public functions check the arguments and count the bytes that are copied between host and device. The protected
/// functions do the work; the driver (the code for one kind of device) implements them.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Returns the stream's name, for timelines and errors.
  const std::string& name() const { return name_; }

  /// to_device() and to_host() submit a copy between host and device. Until the copy is done, the source must not
  /// change, and the destination must not be used. Both throw kInternal if the sizes differ or if the region belongs to
  /// another device.
  void to_device(const Region& to, const HostRegion& from, Purpose purpose);
  void to_host(const HostRegion& to, const Region& from, Purpose purpose);

  /// Submits a copy within the device. The regions must not overlap. Throws kInternal if the sizes differ or if a
  /// region belongs to another device.
  void copy(const Region& to, const Region& from);
  /// Submits an operation that sets all bytes of the region to zero. Throws kInternal if the region belongs to another
  /// device.
  void zero(const Region& region);

  /// Submits a signal: the fence is set to `value` when all earlier operations of this stream are done.
  void signal(std::shared_ptr<Fence> fence, std::uint64_t value) { submit_signal(std::move(fence), value); }
  /// Submits a wait: later operations of this stream begin only when the fence has reached `value`.
  void wait(std::shared_ptr<Fence> fence, std::uint64_t value) { submit_wait(std::move(fence), value); }

  /// Makes a thread of the driver call `callback` when all earlier operations of this stream are done, or when one of
  /// them has failed. To find out which, call drain(). The driver may omit the call only if a failure makes every
  /// further use of the device in this process fail, as with CUDA. `callback` must be short, must not throw and must
  /// not use the device; usually it posts a task to an event loop.
  void then(std::function<void()> callback) { submit_call(std::move(callback)); }

  /// Blocks the calling thread until all submitted operations are done. Throws the error of an operation that has
  /// failed. If `limit` passes first, throws kTimeout with the name of the operation that is running.
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
