#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collectives/engine.h"

namespace trainyard::collectives {

/// Decides on which thread an engine works, and waits for it. After a failure, ask(), progress(), and wait() for what
/// is not finished throw that failure.
class Driver {
 public:
  /// `where` begins every error.
  Driver(std::string where, std::unique_ptr<Engine> engine) : where_(std::move(where)), engine_(std::move(engine)) {}
  virtual ~Driver() = default;

  /// Takes an operation and returns its number.
  virtual std::uint64_t ask(Operation&& operation) = 0;
  virtual void wait(std::uint64_t number) = 0;
  /// True also for an operation that will never be finished.
  virtual bool done(std::uint64_t number) = 0;
  virtual void progress() = 0;
  /// Ends the group without throwing, and tells the other members why.
  virtual void fail(const Failure& failure) = 0;

  /// Makes this member give up, and tells the others why.
  void abort(const std::string& reason) noexcept;
  /// Makes the memory of all members reachable, if all of it has handles. If the members provided memory of different
  /// sizes, it ends the group and throws.
  void map(const Buffer& own, std::span<const SharedHandle> handles);
  Transport& transport() { return *engine_->backend().transport; }

 protected:
  const std::string where_;
  std::unique_ptr<Engine> engine_;
};

/// Makes the driver that the engine's backend asks for. `where` begins every error.
std::unique_ptr<Driver> make_driver(const std::string& where, std::unique_ptr<Engine> engine);

}  // namespace trainyard::collectives
