// SPDX-License-Identifier: Apache-2.0
#include "core/process/activity_desk.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/config/bounded_json.h"
#include "core/process/cause_name.h"
#include "messages/error.h"

namespace trainyard::core {

using nlohmann::json;

ActivityDesk::ActivityDesk(EventLoop& control, const PlanView& plan, const ComponentHost& host)
    : control_(control), plan_(plan), host_(host) {}

ActivityDesk::~ActivityDesk() {
  control_.cancel(timer_);
  for (const auto& [thread, worker] : host_.workers()) worker->loop.activity().stop();
}

void ActivityDesk::watch(double seconds) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  if (until_) {
    until_ = std::max(*until_, until);
    return;
  }
  until_ = until;
  for (const auto& [thread, worker] : host_.workers()) {
    worker->loop.activity().start();
    worker->loop.post([activity = &worker->loop.activity()] { activity->arrive(); });
  }
  end_when_due();
}

void ActivityDesk::end_when_due() {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until_ - Clock::now());
  if (left.count() > 0) {
    timer_ = control_.after(left, [this] { end_when_due(); });
    return;
  }
  until_.reset();
  for (const auto& [thread, worker] : host_.workers()) worker->loop.activity().stop();
}

json ActivityDesk::describe() const {
  if (!until_) return nullptr;
  json components = json::array();
  for (const auto& [thread, worker] : host_.workers()) {
    const LoopActivity::Reading reading = worker->loop.activity().read();
    for (const Totals& totals : reading.components) {
      json described = describe(totals);
      described["time_ns"] = reading.time_ns;
      described["began_ns"] = reading.began_ns;
      components.push_back(std::move(described));
    }
  }
  return components;
}

json ActivityDesk::describe(const Totals& totals) const {
  json waiting = json::array();
  const std::uint32_t own = totals.component->context().index;
  for (const Totals::Wait& wait : totals.waiting) {
    waiting.push_back(
        {{"for", name_of_cause(plan_, own, wait.cause)}, {"kind", name_of(wait.cause.kind)}, {"ns", wait.ns}});
  }
  return {{"component", totals.component->name()},
          {"busy_ns", totals.busy_ns},
          {"quiet_ns", totals.quiet_ns},
          {"messages", totals.messages},
          {"waiting", std::move(waiting)}};
}

std::optional<double> read_activity_seconds(const std::string& body) {
  constexpr std::size_t kShown = 100;
  const std::optional<json> given = parse_bounded_json(body.empty() ? "{}" : body);
  if (given && given->is_object()) {
    if (!given->contains("activity_s")) return {};
    const json& seconds = given->at("activity_s");
    if (seconds.is_number()) {
      const double value = seconds.get<double>();
      if (value > 0 && value <= ActivityDesk::kMostSeconds) return value;
    }
  }
  throw Error(
      Code::kInvalidArgument,
      R"(counters: {} is not allowed; {{}} or {{"activity_s": SECONDS}} with more than 0 and at most {} seconds)",
      body.substr(0, kShown), ActivityDesk::kMostSeconds);
}

}  // namespace trainyard::core
