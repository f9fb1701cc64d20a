// SPDX-License-Identifier: Apache-2.0
#include "core/component/partners.h"

#include <algorithm>
#include <optional>

#include "core/edge/edge.h"

namespace trainyard::core {

Partners partners_of(const OutputBase& output, const InputBase& answers) {
  Partners partners;
  for (const Edge* edge : output.edges()) {
    const std::optional<std::uint32_t> receiver = edge->receiver();
    if (!receiver || std::ranges::find(answers.senders(), *receiver) == answers.senders().end()) continue;
    (edge->drops_everything() ? partners.dead : partners.living).insert(*receiver);
  }
  return partners;
}

}  // namespace trainyard::core
