// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "messages/plan.h"

namespace trainyard::core {

/// The part of the run's plan that one process received, with the name of this process. It never changes, so every
/// thread may read it.
class PlanView {
 public:
  /// `process` is the name of the process that received the plan.
  PlanView(ProcessPlan plan, std::string process) : plan_(std::move(plan)), process_(std::move(process)) {}

  const ProcessPlan& plan() const { return plan_; }
  const std::string& process() const { return process_; }

  /// Returns a component by its index. The plan contains all components of the run, including the components of other
  /// processes.
  const ComponentPlan& component(std::uint32_t index) const { return plan_.components.at(index); }
  bool is_mine(std::uint32_t index) const { return component(index).process == process_; }

  /// Returns the address at which a thread of this process publishes: the address in the plan or, if the plan has none
  /// for `thread` (as for the gateway, which serves programs outside of the plan), the address of a socket in the run
  /// directory.
  std::string address_of(const std::string& thread) const;

 private:
  ProcessPlan plan_;
  std::string process_;
};

}  // namespace trainyard::core
