// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "messages/plan.h"

namespace trainyard::core {

/// The plan of the run as one of its processes sees it. It does not change once it is made, so every thread may read
/// it.
class PlanView {
 public:
  /// `process` is the process whose view it is.
  PlanView(ProcessPlan plan, std::string process) : plan_(std::move(plan)), process_(std::move(process)) {}

  const ProcessPlan& plan() const { return plan_; }
  const std::string& process() const { return process_; }

  /// Returns a component by its index. Every component of the run has one, including those of other processes.
  const ComponentPlan& component(std::uint32_t index) const { return plan_.components.at(index); }
  bool is_mine(std::uint32_t index) const { return component(index).process == process_; }

  /// Returns the address at which a thread of this process publishes. The launcher chooses the addresses. For a thread
  /// that it does not name, such as the gateway, the address is a socket in the run directory.
  std::string address_of(const std::string& thread) const;

 private:
  ProcessPlan plan_;
  std::string process_;
};

}  // namespace trainyard::core
