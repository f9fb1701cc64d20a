// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "messages/words.h"

namespace trainyard::pipeline {

/// The pipeline schedules. They differ in how many micro-batches are held at once, not in the result.
enum class ScheduleKind : std::uint8_t { kOneForwardOneBackward, kGpipe };
constexpr auto words_of(ScheduleKind) { return words("pipeline schedule", "1f1b", "gpipe"); }

/// One action of a rank in a pipeline schedule.
struct Action {
  enum Kind : std::uint8_t { kForward, kBackward };
  Kind kind = kForward;
  std::size_t micro_batch = 0;

  friend bool operator==(const Action&, const Action&) = default;
};

/// Returns the pipeline schedule with all forward passes first, then all backward passes (Huang et al., 2019). A rank
/// holds all micro-batches at once.
std::vector<Action> gpipe(std::size_t micro_batches);

/// Returns the pipeline schedule that begins with enough forward passes to fill the pipeline after `rank`. Then one
/// backward pass follows each forward pass (Narayanan et al., 2019, with a flush at the end of the step). A rank holds
/// at most `ranks - rank` micro-batches.
std::vector<Action> one_forward_one_backward(std::size_t micro_batches, std::uint32_t rank, std::uint32_t ranks);

}  // namespace trainyard::pipeline
