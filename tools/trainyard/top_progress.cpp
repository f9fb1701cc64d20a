// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/top_progress.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "messages/error.h"
#include "messages/json.h"
#include "visitors/json_fields.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* kMetricsTopic = "/metrics";
/// The longest time for which listen() processes messages that have already arrived.
constexpr auto kDraining = 20ms;

}  // namespace

TopProgress::TopProgress(zmq::context_t& context, const visitors::RunInfo& run) {
  headline_.run = run.run;
  try {
    watch_.emplace(context, run, std::vector<std::string>{kMetricsTopic},
                   visitors::ListenOptions{.policy = "latest", .window_messages = 4});
  } catch (const Error& error) {
    if (error.code() != Code::kNotFound) throw;
    // This run publishes no metrics, so there is nothing to listen to.
  }
}

// The time is checked after every message, so that a publisher that sends faster than this program reads cannot keep it
// in the loop.
void TopProgress::listen(std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  while (watch_ && !watch_->ended()) {
    const auto left = std::max(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()), 0ms);
    const auto message = watch_->next(left);
    if (message) take(json::parse(json_from_binary(message->stream->schema, message->bytes())));
    if (Clock::now() >= until + (message ? kDraining : 0ms)) return;
  }
  std::this_thread::sleep_until(until);
}

// Fields are checked, because a visitor could publish messages of another type on this topic.
void TopProgress::take(const json& metrics) {
  if (visitors::text_in(metrics, "stage") != "train" || !visitors::count_in(metrics, "step")) return;
  headline_.step = visitors::count_in(metrics, "step");
  headline_.total_steps = visitors::count_in(metrics, "total_steps").value_or(0);
  headline_.unit = visitors::text_in(metrics, "unit");
  const auto values = metrics.find("values");
  if (values != metrics.end() && values->is_array()) take_loss(*values);
  const std::uint64_t units = visitors::count_in(metrics, "units").value_or(0);
  const std::uint64_t time_ns = visitors::count_in(metrics, "time_ns").value_or(0);
  if (units_ && units >= *units_ && time_ns > time_ns_) {
    headline_.units_per_s = static_cast<double>(units - *units_) / (static_cast<double>(time_ns - time_ns_) * 1e-9);
  }
  units_ = units;
  time_ns_ = time_ns;
}

void TopProgress::take_loss(const json& values) {
  for (const json& value : values) {
    if (!value.is_object() || visitors::text_in(value, "name") != "loss") continue;
    const auto number = value.find("value");
    if (number != value.end() && number->is_number()) headline_.loss = number->get<double>();
  }
}

}  // namespace trainyard::tools
