// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collectives/engine.h"

namespace trainyard::collectives {

/// Runs an engine on the caller's thread or on a separate one, and waits for its operations. After a failure, ask(),
/// progress() and wait() for an unfinished operation throw that failure.
class Driver {
 public:
  /// Every error text begins with `where`.
  Driver(std::string where, std::unique_ptr<Engine> engine) : where_(std::move(where)), engine_(std::move(engine)) {}
  virtual ~Driver() = default;

  /// Submits an operation and returns its number.
  virtual std::uint64_t ask(Operation&& operation) = 0;
  virtual void wait(std::uint64_t number) = 0;
  /// Returns true if the operation is finished or will never be finished.
  virtual bool done(std::uint64_t number) = 0;
  virtual void progress() = 0;
  /// Ends the group without throwing, and tells the other members why.
  virtual void fail(const Failure& failure) = 0;

  /// Makes the group fail because this member cannot continue, and tells the others the reason.
  void abort(const std::string& reason) noexcept;
  /// Maps the memory of all members, if all of them provide handles. If their memory differs in size, the group fails
  /// and the function throws.
  void map(const Buffer& own, std::span<const SharedHandle> handles);
  Transport& transport() { return *engine_->backend().transport; }

 protected:
  const std::string where_;
  std::unique_ptr<Engine> engine_;
};

/// Makes the driver that the engine's backend requires. Every error text begins with `where`.
std::unique_ptr<Driver> make_driver(const std::string& where, std::unique_ptr<Engine> engine);

}  // namespace trainyard::collectives
