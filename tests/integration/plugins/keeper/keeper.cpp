// SPDX-License-Identifier: Apache-2.0
// A component for tests that exists for each rank and has state: the number of checkpoints in which it was saved.

#include "core/component/component.h"
#include "core/component/state_port.h"
#include "messages/order.h"

namespace trainyard {
namespace {

class Keeper final : public Component {
 public:
  explicit Keeper(ComponentContext& context) : Component(context, {.per_rank = true, .thread = "keeper"}) {}

 private:
  void save(StateWriter& into) {
    into.set("checkpoints", ++checkpoints_);
    into.set("name", name(), StateScope::kRank);
  }
  void restore(const StateReader& from) {
    checkpoints_ = from.count("checkpoints");
    log().info("keeper of {}: was in {} checkpoints", from.has("name") ? from.text("name") : "nobody", checkpoints_);
  }

  std::uint64_t checkpoints_ = 0;
  Input<Order> orders_{*this, "orders", "not looked at", [](const auto&) {}, InputOptions{.topic = "/orders"}};
  StatePort state_{*this, [this](StateWriter& into) { save(into); },
                   [this](const StateReader& from) { restore(from); }};
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Keeper, "keeper", "Counts the checkpoints that it was in; for tests.")
