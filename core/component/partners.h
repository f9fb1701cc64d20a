// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>

#include "core/component/input.h"
#include "core/component/output.h"

namespace trainyard::core {

/// The components, by their indices in the plan, that receive the messages of an output and can answer them because
/// they are connected to an input. Visitors and components that only listen are not partners.
struct Partners {
  std::set<std::uint32_t> living;
  std::set<std::uint32_t> dead;  ///< Those whose processes have died and have not been restarted.
};

/// Returns the partners of a component that sends messages through `output` and receives the answers through `answers`.
/// That a dead process has been restarted is known only when the output has sent another message. Call this function
/// only on the component's event loop.
Partners partners_of(const OutputBase& output, const InputBase& answers);

}  // namespace trainyard::core
