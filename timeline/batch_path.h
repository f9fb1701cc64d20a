// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// One event that a batch caused. `depth` is the number of other events of the same component, caused by the same
/// batch, within which it happened.
struct PathLine {
  Event event;
  std::size_t depth = 0;
};

/// All events that one batch caused, ordered by their beginnings: from the moment at which the batch was read to the
/// last message that its step caused.
struct BatchPath {
  std::uint64_t trace = 0;
  std::uint64_t step = 0;  ///< The training step to which the batch belongs; 0 if there is none.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<PathLine> lines;
};

/// Returns the path of the batch with this trace; it has no lines if the timeline does not contain the batch. Events in
/// which a component waits for a message are left out, because the batch is not involved in them.
BatchPath path_of(const Timeline& timeline, std::uint64_t trace);

/// Returns what an event is, in words: "Batch from data_loader", "waits for rank1/accelerator_host", "forward".
std::string words_for(const Event& event);

}  // namespace trainyard::timeline
