// SPDX-License-Identifier: Apache-2.0
#include "strategies/step_trace.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "messages/error.h"

namespace trainyard {
namespace {

double microseconds(StepTrace::Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

}  // namespace

void StepTrace::add(const std::string& name, const std::string& lane, Clock::time_point begin, Clock::time_point end) {
  const std::lock_guard lock(mutex_);
  if (events_.size() < kMostEvents) events_.push_back({name, lane, begin, end});
}

void StepTrace::write(const std::string& path) const {
  auto all = nlohmann::json::array();
  {
    const std::lock_guard lock(mutex_);
    for (const Event& event : events_) {
      all.push_back({{"name", event.name},
                     {"cat", event.lane},
                     {"ph", "X"},
                     {"pid", rank_},
                     {"tid", event.lane},
                     {"ts", microseconds(event.begin.time_since_epoch())},
                     {"dur", microseconds(event.end - event.begin)}});
    }
  }
  std::ofstream file(path);
  file << all.dump() << std::flush;
  if (!file) throw Error(Code::kIo, "cannot write the timeline {}", path);
}

}  // namespace trainyard
