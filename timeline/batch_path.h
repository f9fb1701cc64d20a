// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// An event that a batch has caused. `depth` is the number of enclosing events, that is, events of the same batch on
/// the same thread of the same component during which this event took place.
struct PathLine {
  Event event;
  std::size_t depth = 0;
};

/// All events that one batch has caused, in the order in which they began: from the reading of the batch to the last
/// message that its step has caused.
struct BatchPath {
  std::uint64_t trace = 0;
  std::uint64_t step = 0;  ///< The training step to which the batch belongs; 0 if there is none or it is not known.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<PathLine> lines;
};

/// Returns the path of a batch. `trace` is the number of the batch, as it appears in the headers of messages. The path
/// has no lines if the timeline does not contain the batch. Spans of whole steps and times during which a component
/// waited for a message are left out, because they do not concern only this batch.
BatchPath path_of(const Timeline& timeline, std::uint64_t trace);

/// Returns a short description of an event, such as "Batch from data_loader", "waits for rank1/accelerator_host" or
/// "forward".
std::string words_for(const Event& event);

}  // namespace trainyard::timeline
