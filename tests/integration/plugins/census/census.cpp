// SPDX-License-Identifier: Apache-2.0
// A component for tests that exists for each rank, gathers the names of the components of all ranks with a collective,
// and logs them.

#include <fmt/ranges.h>

#include "collectives/collective.h"
#include "core/component/component.h"
#include "messages/order.h"

namespace trainyard {
namespace {

class Census final : public Component {
 public:
  explicit Census(ComponentContext& context) : Component(context, {.per_rank = true, .thread = "census"}) {}

 private:
  void on_order(const Order& order) {
    if (order.id != 1) return;
    const auto world = make_world(context(), "census");
    log().info("census: {}", fmt::join(world->all_gather_texts(name()), ", "));
  }

  Input<Order> orders_{*this, "orders", "the first one starts it", [this](const auto& order) { on_order(*order); },
                       InputOptions{.topic = "/orders"}};
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Census, "census", "Asks every rank for its name; for tests.")
