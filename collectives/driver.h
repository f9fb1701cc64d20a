#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collectives/engine.h"

namespace trainyard::collectives {

/// Says on which thread an engine works, and waits for it. After a failure, ask(), progress(), and wait() for what is
/// not finished throw it.
class Driver {
 public:
  /// `where` begins every error.
  Driver(std::string where, std::unique_ptr<Engine> engine) : where_(std::move(where)), engine_(std::move(engine)) {}
  virtual ~Driver() = default;

  /// Takes an operation and returns its number.
  virtual std::uint64_t ask(Operation operation) = 0;
  virtual void wait(std::uint64_t number) = 0;
  /// True also for an operation that will never be finished.
  virtual bool done(std::uint64_t number) = 0;
  virtual void progress() = 0;
  /// Ends the group without throwing; the other members are told why.
  virtual void fail(const Failure& failure) = 0;

  /// This member gives up, and says why.
  void abort(const std::string& reason) noexcept;
  /// Makes the memory of all members reachable, if all of it has handles. Ends the group, and throws, if the members
  /// gave memory of different sizes.
  void map(const Buffer& own, std::span<const SharedHandle> handles);
  Transport& transport() { return *engine_->backend().transport; }

 protected:
  const std::string where_;
  std::unique_ptr<Engine> engine_;
};

/// `where` begins every error.
std::unique_ptr<Driver> make_driver(const std::string& where, std::unique_ptr<Engine> engine);

}  // namespace trainyard::collectives
