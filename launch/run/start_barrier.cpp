// SPDX-License-Identifier: Apache-2.0
#include "launch/run/start_barrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace trainyard::launch {

// This class only records the stages; StartSequence sends the messages.

namespace {

/// Returns what a process at this stage has not done yet, for the error when the start takes too long.
std::string_view not_done(StartBarrier::Stage stage) {
  switch (stage) {
    case StartBarrier::Stage::kStarting:
      return "did not answer (no Hello)";
    case StartBarrier::Stage::kConfiguring:
      return "did not configure its components (no Configured)";
    case StartBarrier::Stage::kConfigured:
      return "waits for the others";
    case StartBarrier::Stage::kConnecting:
      return "did not connect its inputs (no Connected)";
    case StartBarrier::Stage::kConnected:
      return "is there";
  }
  return "";
}

}  // namespace

StartBarrier::StartBarrier(const std::vector<std::string>& processes) {
  for (const std::string& process : processes) stages_[process] = Stage::kStarting;
}

void StartBarrier::configured(const std::string& process, const Endpoints& endpoints) {
  endpoints_[process] = endpoints;
  set_stage(process, Stage::kConfigured);
}

void StartBarrier::reset(const std::string& process) {
  endpoints_.erase(process);
  set_stage(process, Stage::kStarting);
}

bool StartBarrier::all_at_least(Stage stage) const {
  return std::ranges::all_of(stages_, [&](const auto& entry) { return entry.second >= stage; });
}

StartBarrier::Endpoints StartBarrier::endpoints() const {
  Endpoints all;
  for (const auto& [process, bound] : endpoints_) all.insert(bound.begin(), bound.end());
  return all;
}

StartBarrier::Endpoints StartBarrier::endpoints_of(const std::string& process) const {
  const auto bound = endpoints_.find(process);
  return bound == endpoints_.end() ? Endpoints() : bound->second;
}

std::vector<std::string> StartBarrier::missing() const {
  std::vector<std::string> sentences;
  for (const auto& [process, stage] : stages_) {
    // A process that only waits for others is not the cause.
    if (stage == Stage::kConnected || stage == Stage::kConfigured) continue;
    sentences.push_back(fmt::format("process '{}' {}", process, not_done(stage)));
  }
  return sentences;
}

}  // namespace trainyard::launch
