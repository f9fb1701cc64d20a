// SPDX-License-Identifier: Apache-2.0
#include "launch/run/call_table.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "launch/run/seconds.h"

namespace trainyard::launch {

CallTable::~CallTable() {
  for (const auto& [id, call] : calls_) loop_.cancel(call.timer);
}

std::uint64_t CallTable::open(const std::string& process, const std::string& what, std::chrono::milliseconds deadline,
                              Answer answer) {
  const std::uint64_t id = next_id_++;
  const auto seconds = in_seconds(deadline);
  // The text of the error is made now, because the names in it are known here.
  const std::string late = fmt::format("{}: no answer from process '{}' within {} s", what, process, seconds);
  const PollLoop::Id timer = loop_.after(deadline, [this, id, late] { answered(id, false, late); });
  calls_[id] = {process, what, std::move(answer), timer};
  return id;
}

void CallTable::answered(std::uint64_t id, bool ok, const std::string& body) {
  // The call is removed before its callback runs, because the callback may open the next call.
  auto call = calls_.extract(id);
  if (!call) return;
  loop_.cancel(call.mapped().timer);
  call.mapped().answer(ok, body);
}

// The calls are collected first, because a callback may change the table.
void CallTable::process_gone(const std::string& process) {
  std::vector<std::pair<std::uint64_t, std::string>> lost;
  for (const auto& [id, call] : calls_) {
    if (call.process == process) lost.emplace_back(id, fmt::format("{}: process '{}' is gone", call.what, process));
  }
  for (const auto& [id, error] : lost) answered(id, false, error);
}

}  // namespace trainyard::launch
