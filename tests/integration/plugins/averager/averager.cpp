// SPDX-License-Identifier: Apache-2.0
// A component for tests that reads the parameters of its rank in shared memory after every step, and averages them.

#include <cstring>
#include <span>
#include <vector>

#include "core/component/component.h"
#include "messages/arena.h"
#include "messages/step.h"

namespace trainyard {
namespace {

class Averager final : public Component {
 public:
  explicit Averager(ComponentContext& context) : Component(context, {.per_rank = true, .thread = "averager"}) {}

 protected:
  void on_deactivate() override { log().info("averager: {:016x} after {} steps", hash_of(average_), steps_); }

 private:
  void on_arena(const std::shared_ptr<const ArenaInfo>& arena) {
    arena_info_ = arena;
    parameters_ = arena->blocks.front().data.as<float>();
    average_.assign(parameters_.size(), 0);
  }

  void on_readable(const ArenaReadable& readable) {
    ++steps_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) average_[i] = 0.5F * (average_[i] + parameters_[i]);
    read_.send(ArenaRead{.rank = readable.rank, .step = readable.step});
  }

  static std::uint64_t hash_of(std::span<const float> values) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const float value : values) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      hash = (hash ^ bits) * 1099511628211ULL;
    }
    return hash;
  }

  Output<ArenaRead> read_{*this, "arena_read", "this step has been read"};
  Input<ArenaInfo> arena_{*this, "arena", "the memory to read", [this](const auto& message) { on_arena(message); }};
  Input<ArenaReadable> readable_{*this, "arena_readable", "when to read it",
                                 [this](const auto& message) { on_readable(*message); }};

  std::shared_ptr<const ArenaInfo> arena_info_;  ///< This keeps the memory mapped.
  std::span<const float> parameters_;
  std::vector<float> average_;
  std::uint64_t steps_ = 0;
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Averager, "averager", "Averages the parameters of its rank; for tests.")
