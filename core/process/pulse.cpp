// SPDX-License-Identifier: Apache-2.0
#include "core/process/pulse.h"

#include <nlohmann/json.hpp>

namespace trainyard::core {

using nlohmann::json;

void Pulse::beat() {
  for (const auto& [thread, worker] : host_.workers()) {
    Sign& sign = signs_[worker.get()];
    if (!sign.answered->load(std::memory_order_relaxed)) continue;
    sign.answered->store(false, std::memory_order_relaxed);
    sign.asked = Clock::now();
    worker->loop.post([answered = sign.answered] { answered->store(true, std::memory_order_relaxed); });
  }
}

std::string Pulse::describe() const {
  std::uint64_t sent = 0;
  std::uint64_t blocking = 0;
  // The lists of edges do not change while the workers run, and the counters are atomic, so this thread may read them.
  const auto count = [&](const Edge& edge) {
    const std::uint64_t messages = edge.counters().sent.load(std::memory_order_relaxed);
    sent += messages;
    if (edge.policy() == Policy::kBlock) blocking += messages;
  };
  for (const auto& [thread, worker] : host_.workers()) {
    for (const auto& edge : worker->edges) count(*edge);
    if (worker->outlet == nullptr) continue;
    for (const auto& edge : worker->outlet->edges()) count(*edge);
  }
  json busy = json::array();
  for (const auto& [worker, sign] : signs_) {
    if (sign.answered->load(std::memory_order_relaxed)) continue;
    json components = json::array();
    for (const auto& component : worker->components) components.push_back(component->name());
    busy.push_back(
        {{"components", components}, {"seconds", std::chrono::duration<double>(Clock::now() - sign.asked).count()}});
  }
  return json{{"sent", sent}, {"sent_blocking", blocking}, {"busy", busy}}.dump();
}

}  // namespace trainyard::core
