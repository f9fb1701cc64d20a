// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "collectives/driver.h"

namespace trainyard::core {
class WaitScope;
}  // namespace trainyard::core

namespace trainyard::collectives {

/// A driver that carries out operations on the thread of its caller. Operations make progress only while one of the
/// driver's functions runs.
class CallerDriver final : public Driver {
 public:
  using Driver::Driver;

  std::uint64_t ask(Operation&& operation) override;
  void wait(std::uint64_t number) override;
  bool done(std::uint64_t number) override;
  void progress() override;
  void fail(const Failure& failure) override { engine_->fail(failure); }

 private:
  void throw_if_failed() const;
  void look_sometimes(std::uint64_t number);
  void blame(core::WaitScope& waiting, std::uint64_t number);

  std::uint64_t asked_ = 0;
  std::chrono::steady_clock::time_point last_look_{};
};

}  // namespace trainyard::collectives
