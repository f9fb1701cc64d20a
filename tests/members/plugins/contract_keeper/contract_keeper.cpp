// SPDX-License-Identifier: Apache-2.0
// A component with state for the contract tests, like programs/keeper.py and programs/keeper.mjs.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "core/component/component.h"
#include "core/component/state_port.h"
#include "core/memory/shared_pool.h"
#include "messages/error.h"
#include "messages/order.h"

namespace trainyard {
namespace {

constexpr double kBest = -std::numeric_limits<double>::infinity();
constexpr const char* kList = R"([1,[2.5,"x"]])";

template <class T>
Tensor tensor_of(const ComponentContext& context, DType dtype, std::vector<std::int64_t> shape,
                 const std::vector<T>& values) {
  const std::size_t bytes = values.size() * sizeof(T);
  Tensor tensor{dtype, std::move(shape), 0, context.pool->allocate(bytes)};
  std::memcpy(tensor.data(), values.data(), bytes);
  return tensor;
}

std::vector<std::int64_t> large() {
  std::vector<std::int64_t> values(100'000);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

class ContractKeeper final : public Component {
 public:
  explicit ContractKeeper(ComponentContext& context) : Component(context, {.per_rank = true, .thread = "keeper"}) {}

 private:
  void save(StateWriter& into) {
    into.set("checkpoints", ++checkpoints_);
    into.set("best", kBest);
    into.set("loss", 0.1);
    into.set("word", "\u00e4\n");
    into.set("done", true);
    into.set_json("list", kList);
    into.set("small", tensor_of<float>(context(), DType::kFloat32, {3}, {1.5F, -2.0F, std::nanf("")}));
    into.set("large", tensor_of(context(), DType::kInt64, {100, 1000}, large()));
    into.set("name", name(), StateScope::kRank);
  }

  void restore(const StateReader& from) {
    checkpoints_ = from.count("checkpoints");
    const auto small = from.tensor("small", DType::kFloat32, {3}).as<float>();
    const auto kept = from.tensor("large", DType::kInt64, {100, 1000}).as<std::int64_t>();
    const bool right = from.number("best") == kBest && from.number("loss") == 0.1 && from.text("word") == "\u00e4\n" &&
                       from.flag("done") && from.json("list") == kList && small[0] == 1.5F && small[1] == -2.0F &&
                       std::isnan(small[2]) && std::ranges::equal(kept, large()) && !from.has("nothing") &&
                       from.text("name") == name();
    if (!right) throw Error(Code::kCorrupt, "something else was restored");
    log().info("was in {} checkpoints, the last at step {}", checkpoints_, from.step());
  }

  std::uint64_t checkpoints_ = 0;
  Input<Order> orders_{*this, "orders", "not looked at", [](const auto&) {}, InputOptions{.topic = "/orders"}};
  StatePort state_{*this, [this](StateWriter& into) { save(into); },
                   [this](const StateReader& from) { restore(from); }};
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::ContractKeeper, "contract_keeper", "Keeps state of every kind; for tests.")
