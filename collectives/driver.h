// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collectives/engine.h"

namespace trainyard::collectives {

/// Runs the engine, which carries out a collective's operations, either on the caller's thread or on a separate thread.
/// After a failure of the group, ask() and progress() throw the failure as an Error, and so does wait() for an
/// unfinished operation.
class Driver {
 public:
  /// `where` is the prefix of every error text.
  Driver(std::string where, std::unique_ptr<Engine> engine) : where_(std::move(where)), engine_(std::move(engine)) {}
  virtual ~Driver() = default;

  /// Submits an operation and returns its number, by which wait() and done() identify it.
  virtual std::uint64_t ask(Operation&& operation) = 0;
  /// Waits until the operation is finished.
  virtual void wait(std::uint64_t number) = 0;
  /// Returns true if the operation is finished, or will never be finished because the group has failed.
  virtual bool done(std::uint64_t number) = 0;
  /// Makes as much progress as possible without waiting.
  virtual void progress() = 0;
  /// Makes the group fail with `failure`, and reports the failure to the other members. The function itself does not
  /// throw the failure. Does nothing if the group has already failed.
  virtual void fail(const Failure& failure) = 0;

  /// Makes the group fail because the calling member cannot continue, and reports `reason` to the other members. Never
  /// throws.
  void abort(const std::string& reason) noexcept;
  /// Maps the memory of all members into this process, so that operations can work on it in place. `own` is the memory
  /// of the calling member, and `handles` contains the handle of each member's memory. Maps nothing if a member's
  /// memory is not shared memory (SharedHandle::fd is negative). If the sizes differ or mapping fails, the group fails
  /// and the function throws.
  void map(const Buffer& own, std::span<const SharedHandle> handles);
  Transport& transport() { return *engine_->backend().transport; }

 protected:
  const std::string where_;
  std::unique_ptr<Engine> engine_;
};

/// Makes a driver that runs the engine on the caller's thread or on a separate thread, as the backend requires
/// (Backend::thread). `where` is the prefix of every error text.
std::unique_ptr<Driver> make_driver(const std::string& where, std::unique_ptr<Engine> engine);

}  // namespace trainyard::collectives
