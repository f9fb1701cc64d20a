// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// One thing that happened because of a batch. `depth` counts the things of the same component, and because of the same
/// batch, inside which it happened.
struct PathLine {
  Event event;
  std::size_t depth = 0;
};

/// What happened because of one batch, in the order of the beginnings: from the time at which it was read to the last
/// message that its step has caused.
struct BatchPath {
  std::uint64_t trace = 0;
  std::uint64_t step = 0;  ///< 0 if the batch belongs to no training step.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<PathLine> lines;
};

/// Returns the path of the batch `trace`; without lines if the timeline has no such batch. Waiting for a message is
/// left out, because it says what the component missed, and not what the batch went through.
BatchPath path_of(const Timeline& timeline, std::uint64_t trace);

/// Returns what an event is, in words: "Batch from data_loader", "waits for rank1/accelerator_host", "forward".
std::string words_for(const Event& event);

}  // namespace trainyard::timeline
