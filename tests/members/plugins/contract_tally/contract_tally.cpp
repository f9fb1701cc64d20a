// SPDX-License-Identifier: Apache-2.0
// A component for the contract tests, like programs/tally.py and programs/tally.mjs. It receives numbers and tensors,
// and checks that they arrive completely and in order.

#include <algorithm>
#include <cereal/cereal.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "core/component/component.h"
#include "core/component/service.h"
#include "messages/arena.h"
#include "messages/error.h"

namespace trainyard {
namespace {

struct Count {
  static constexpr const char* kTypeName = "Count";
  std::uint64_t count = 0;
  std::map<std::string, double> values;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(count), CEREAL_NVP(values));
  }
};

struct AddRequest {
  static constexpr const char* kTypeName = "AddRequest";
  std::uint64_t number = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(number));
  }
};

struct AddReply {
  static constexpr const char* kTypeName = "AddReply";
  std::uint64_t total = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(total));
  }
};

class ContractTally final : public Component {
 public:
  explicit ContractTally(ComponentContext& context) : Component(context, {.thread = "tally"}) {
    factor_.on_change([this] { log().info("the factor is {}", *factor_); });
  }

 private:
  void on_tick(const ArenaBlock& tick) {
    const std::int64_t number = std::stoll(tick.name);
    if (*strict_ && number != received_) {
      throw Error(Code::kInternal, "tick {} came when {} was due", number, received_);
    }
    if (!tick.data.shape.empty()) check_tensor(tick.data, number);
    misbehave_at(number);
    // The sleep imitates work that takes so long.
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(*slow_ms_));
    auto count = counts_.loan();
    count->count = static_cast<std::uint64_t>(++received_);
    count->values = {{"factor", *factor_}};
    counts_.send(std::move(count));
    if (received_ == *finish_after_) finish_run("counted " + std::to_string(received_));
  }

  void misbehave_at(std::int64_t number) const {
    if (number == *fail_at_) throw std::out_of_range("no such key");
    if (number == *die_at_) std::raise(SIGKILL);
    while (number == *hang_at_) std::this_thread::sleep_for(std::chrono::seconds(1));
  }

  void check_tensor(const Tensor& tensor, std::int64_t number) {
    const auto bytes = tensor.as<std::uint8_t>();
    const auto expected = static_cast<std::uint8_t>(number % 251);
    if (bytes.front() != expected || bytes.back() != expected) {
      throw Error(Code::kCorrupt, "tensor of tick {} holds {} and {}", number, bytes.front(), bytes.back());
    }
    if (*kind_ != "kept") return;
    kept_.emplace_back(expected, tensor);
    if (kept_.size() > 5) kept_.pop_front();
    for (const auto& [older, kept] : kept_) {
      if (!std::ranges::all_of(kept.as<std::uint8_t>(), [older = older](std::uint8_t byte) { return byte == older; })) {
        throw Error(Code::kCorrupt, "a tensor was changed while it was kept");
      }
    }
  }

  AddReply add(const AddRequest& request) const {
    if (request.number == 13) throw std::invalid_argument("13 is not wanted");
    return {.total = static_cast<std::uint64_t>(received_) + request.number};
  }

  void on_finalize() override {
    std::filesystem::create_directories(context().output_directory);
    std::ofstream(context().output_directory + "/" + name() + ".count") << received_;
  }

  Parameter<std::int64_t> finish_after_{*this, "finish_after", 0, "end the run after so many; 0 = never", at_least(0)};
  Parameter<bool> strict_{*this, "strict", true, "fail when a number is missing"};
  Parameter<double> slow_ms_{*this, "slow_ms", 0, "how long each takes", at_least(0) | in_unit("ms") | settable()};
  Parameter<double> factor_{*this, "factor", 0.5, "a share", between(0, 1) | settable()};
  Parameter<std::string> kind_{*this, "kind", "plain", "a word", one_of({"plain", "kept"})};
  Parameter<std::int64_t> fail_at_{*this, "fail_at", -1, "throw an error at this number"};
  Parameter<std::int64_t> die_at_{*this, "die_at", -1, "be killed at this number"};
  Parameter<std::int64_t> hang_at_{*this, "hang_at", -1, "be in one handler for ever at this number"};
  Input<ArenaBlock> ticks_{*this, "ticks", "numbers to count", [this](const auto& tick) { on_tick(*tick); }};
  Output<Count> counts_{*this, "counts", "how many have come"};
  Service<AddRequest, AddReply> add_{*this, "add", "adds a number to the count, without sending",
                                     [this](const AddRequest& request) { return add(request); }};
  std::int64_t received_ = 0;
  std::deque<std::pair<std::uint8_t, Tensor>> kept_;
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::ContractTally, "contract_tally", "Counts and checks numbers; for tests.")
