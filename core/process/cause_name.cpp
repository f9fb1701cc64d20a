// SPDX-License-Identifier: Apache-2.0
#include "core/process/cause_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "messages/component_name.h"

namespace trainyard::core {
namespace {

/// Returns the name of the component that corresponds to `component` on another rank: "rank1/optimizer" for
/// "rank0/optimizer" and rank 1. Returns "rank1" if there is none.
std::string peer_of(const PlanView& plan, const ComponentPlan& component, std::uint32_t rank) {
  const std::string own = without_rank(component.name, component.rank);
  for (const ComponentPlan& each : plan.plan().components) {
    if (each.rank == rank && without_rank(each.name, rank) == own) return each.name;
  }
  return fmt::format("rank{}", rank);
}

}  // namespace

// A message of a component that is not in the plan should not occur. If it does, the name is empty.
std::string name_of_cause(const PlanView& plan, std::uint32_t own, const WaitCause& cause) {
  const auto& components = plan.plan().components;
  switch (cause.kind) {
    case WaitKind::kMessage:
      return cause.number < components.size() ? components[cause.number].name : "";
    case WaitKind::kRoom: {
      const auto edge = std::ranges::find(plan.plan().edges, cause.number, &EdgePlan::id);
      return edge == plan.plan().edges.end() ? "" : plan.component(edge->to).name;
    }
    case WaitKind::kRank:
      return peer_of(plan, plan.component(own), cause.number);
    default:
      return std::string(name_of(cause.kind));
  }
}

}  // namespace trainyard::core
