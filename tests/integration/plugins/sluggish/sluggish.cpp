// SPDX-License-Identifier: Apache-2.0
// A component for tests that replaces the optimizer. Its updates change nothing, and take as long as its parameters
// specify.

#include <chrono>
#include <thread>

#include "core/component/component.h"
#include "messages/arena.h"
#include "messages/step.h"

namespace trainyard {
namespace {

class Sluggish final : public Component {
 public:
  explicit Sluggish(ComponentContext& context)
      : Component(context, {.per_rank = true, .thread = "main", .restartable = false}) {}

 private:
  void update(std::uint64_t step) {
    // The sleep imitates a long computation.
    const bool slow = *only_rank_ < 0 || *only_rank_ == static_cast<std::int64_t>(context().rank);
    if (slow && step > 0) std::this_thread::sleep_for(std::chrono::duration<double>(*update_s_));
    parameters_.send(Parameters{.step = step});
  }

  Parameter<double> update_s_{*this, "update_s", 0, "how long an update takes", at_least(0) | in_unit("s")};
  Parameter<std::int64_t> only_rank_{*this, "only_rank", -1, "the rank that is slow; -1 = all"};

  Output<Parameters> parameters_{*this, "parameters", "the update is done"};
  Input<ArenaInfo> arena_{*this, "arena", "the host is there", [this](const auto&) { update(0); }};
  Input<Gradients> gradients_{*this, "gradients", "an update is due", [this](const auto& m) { update(m->step); }};
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Sluggish, "sluggish", "Updates nothing, slowly; for tests.")
