// SPDX-License-Identifier: Apache-2.0
// A component for the contract tests, like programs/ticker.py and programs/ticker.mjs. It sends the numbers 0, 1, 2,
// ... and, if its parameters request it, a tensor with each number.

#include <cereal/cereal.hpp>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/component/component.h"
#include "core/loop/event_loop.h"
#include "core/memory/shared_pool.h"
#include "messages/arena.h"

namespace trainyard {
namespace {

struct Last {
  static constexpr const char* kTypeName = "Last";
  std::uint64_t number = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(number));
  }
};

class ContractTicker final : public Component {
 public:
  explicit ContractTicker(ComponentContext& context) : Component(context, {.thread = "ticks"}) {}

 private:
  void on_activate() override {
    ticks_.on_ready([this] { send_while_ready(); });
    loop().post([this] { send_while_ready(); });
  }
  void on_deactivate() override { stopped_ = true; }

  void send_while_ready() {
    // Only a few messages are sent at a time, so that calls are not delayed.
    for (int i = 0; i < 64; ++i) {
      if (stopped_ || !ticks_.ready() || (*count_ > 0 && sent_ >= *count_)) return;
      send_one();
    }
    loop().post([this] { send_while_ready(); });
  }

  void send_one() {
    if (sent_ == *fail_at_) throw std::range_error("enough");
    auto tick = ticks_.loan();
    tick->name = std::to_string(sent_);
    tick->data = {};
    if (*tensor_bytes_ > 0) {
      tick->data = {
          DType::kUInt8, {*tensor_bytes_}, 0, context().pool->allocate(static_cast<std::size_t>(*tensor_bytes_))};
      std::memset(tick->data.data(), static_cast<int>(sent_ % 251), static_cast<std::size_t>(*tensor_bytes_));
    }
    loop().set_trace(static_cast<std::uint64_t>(sent_ + 1));
    ticks_.send(std::move(tick));
    auto last = last_.loan();
    last->number = static_cast<std::uint64_t>(sent_++);
    last_.send(std::move(last));
    loop().set_trace(0);
  }

  Parameter<std::int64_t> count_{*this, "count", 1000, "how many; 0 = until it is stopped", at_least(0)};
  Parameter<std::int64_t> tensor_bytes_{*this, "tensor_bytes", 0, "size of the tensor sent along", at_least(0)};
  Parameter<std::int64_t> fail_at_{*this, "fail_at", -1, "throw an error at this number"};
  Output<ArenaBlock> ticks_{*this, "ticks", "numbers as text"};
  Output<Last> last_{*this, "last", "the newest number", {.latched = true}};
  std::int64_t sent_ = 0;
  bool stopped_ = false;
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::ContractTicker, "contract_ticker", "Sends numbers; for tests.")
