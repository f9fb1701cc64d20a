// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "messages/plan.h"

namespace trainyard::core {

/// The run's plan as one process received it, with the name of this process. It never changes, so every thread may read
/// it.
class PlanView {
 public:
  /// `process` is the name of the process that received the plan.
  PlanView(ProcessPlan plan, std::string process) : plan_(std::move(plan)), process_(std::move(process)) {}

  const ProcessPlan& plan() const { return plan_; }
  const std::string& process() const { return process_; }

  /// Returns a component by its index in the plan. This can be any component of the run, even one of another process.
  const ComponentPlan& component(std::uint32_t index) const { return plan_.components.at(index); }
  bool is_mine(std::uint32_t index) const { return component(index).process == process_; }

  /// Returns the address at which the thread `thread` of this process publishes. If the plan contains no address for
  /// this thread, it is the address of a socket in the run directory. The gateway, which serves programs outside of the
  /// plan, counts as a thread with the name "gateway".
  std::string address_of(const std::string& thread) const;

 private:
  ProcessPlan plan_;
  std::string process_;
};

}  // namespace trainyard::core
