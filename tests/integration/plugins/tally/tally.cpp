// SPDX-License-Identifier: Apache-2.0
// A component for tests that receives the messages of `ticker`. It checks that numbers and tensors arrive completely
// and in order, and ends the run after a given number of messages.

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/component/component.h"
#include "messages/arena.h"
#include "messages/error.h"

namespace trainyard {
namespace {

class Tally final : public Component {
 public:
  explicit Tally(ComponentContext& context) : Component(context, {.thread = "tally"}) {}

 private:
  void on_tick(const ArenaBlock& tick) {
    const std::int64_t number = std::stoll(tick.name);
    if (*strict_ && number != received_) {
      throw Error(Code::kInternal, "tick {} came when {} was due", number, received_);
    }
    if (!tick.data.shape.empty()) check_tensor(tick.data, number);
    ++received_;
    if (received_ == *finish_after_) finish_run("counted " + std::to_string(received_));
  }

  static void check_tensor(const Tensor& tensor, std::int64_t number) {
    const auto bytes = tensor.as<std::uint8_t>();
    const auto expected = static_cast<std::uint8_t>(number % 251);
    if (bytes.front() != expected || bytes.back() != expected) {
      throw Error(Code::kCorrupt, "tensor of tick {} holds {} and {}", number, bytes.front(), bytes.back());
    }
  }

  void on_finalize() override {
    std::filesystem::create_directories(context().output_directory);
    std::ofstream(context().output_directory + "/" + name() + ".count") << received_;
    log().info("received {}", received_);
  }

  Parameter<std::int64_t> finish_after_{*this, "finish_after", 0, "end the run after so many; 0 = never", at_least(0)};
  Parameter<bool> strict_{*this, "strict", true, "throw when a number is missing"};
  Input<ArenaBlock> ticks_{*this, "ticks", "numbers to count", [this](const auto& tick) { on_tick(*tick); }};
  std::int64_t received_ = 0;
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Tally, "tally", "Counts and checks numbers; for tests.")
