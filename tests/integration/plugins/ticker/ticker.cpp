// SPDX-License-Identifier: Apache-2.0
// A component for tests that sends the numbers 0, 1, 2, ... and, if its parameters request it, a tensor with each
// number.

#include <cstring>

#include "core/component/component.h"
#include "core/loop/event_loop.h"
#include "core/memory/shared_pool.h"
#include "messages/arena.h"

namespace trainyard {
namespace {

class Ticker final : public Component {
 public:
  explicit Ticker(ComponentContext& context) : Component(context, {.thread = "ticks"}) {}

 private:
  void on_activate() override {
    if (*interval_ms_ > 0) {
      send_later();
    } else {
      ticks_.on_ready([this] { send_while_ready(); });
      loop().post([this] { send_while_ready(); });
    }
  }
  void on_deactivate() override { stopped_ = true; }

  bool more() const { return !stopped_ && (*count_ == 0 || sent_ < *count_); }

  void send_while_ready() {
    while (more() && ticks_.ready()) send_one();
  }

  void send_later() {
    if (!more()) return;
    loop().after(std::chrono::milliseconds(*interval_ms_), [this] {
      if (ticks_.ready()) send_one();
      send_later();
    });
  }

  void send_one() {
    auto tick = ticks_.loan();
    tick->name = std::to_string(sent_);
    tick->data = {};
    if (*tensor_bytes_ > 0) {
      tick->data = {
          DType::kUInt8, {*tensor_bytes_}, 0, context().pool->allocate(static_cast<std::size_t>(*tensor_bytes_))};
      std::memset(tick->data.data(), static_cast<int>(sent_ % 251), static_cast<std::size_t>(*tensor_bytes_));
    }
    ++sent_;
    ticks_.send(std::move(tick));
  }

  Parameter<std::int64_t> count_{*this, "count", 1000, "how many; 0 = until it is stopped", at_least(0)};
  Parameter<std::int64_t> interval_ms_{*this, "interval_ms", 0, "pause after each", at_least(0) | in_unit("ms")};
  Parameter<std::int64_t> tensor_bytes_{*this, "tensor_bytes", 0, "size of the tensor sent along", at_least(0)};
  Output<ArenaBlock> ticks_{*this, "ticks", "numbers as text, and a tensor filled with them"};
  std::int64_t sent_ = 0;
  bool stopped_ = false;
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Ticker, "ticker", "Sends numbers; for tests.")
