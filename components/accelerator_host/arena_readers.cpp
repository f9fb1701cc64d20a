// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/arena_readers.h"

#include <algorithm>

#include "core/edge/edge.h"
#include "messages/error.h"
#include "messages/subscription.h"

namespace trainyard::host {

// A reader that exists once in the run is connected to the input `answers` of every rank, but may receive ArenaReadable
// only from rank 0. So the smaller number of connections counts.
std::size_t ArenaReaders::count() const {
  const auto hear =
      std::ranges::count_if(output_.edges(), [](const core::Edge* edge) { return edge->id() != kVisitorEdge; });
  return std::min(answers_.connections(), static_cast<std::size_t>(hear));
}

void ArenaReaders::show(std::uint64_t step) {
  const std::size_t readers = count();
  if (readers == 0) return;
  runner_.publish_to_readers();
  step_ = step;
  pending_ = readers;
  const auto message = output_.loan();
  *message = {.rank = rank_, .step = step};
  output_.send(message);
}

void ArenaReaders::read(const ArenaRead& answer) {
  // A reader of several ranks sends all its answers on one topic, to all of these ranks.
  if (answer.rank != rank_) return;
  if (pending_ == 0 || answer.step != step_) {
    throw Error(Code::kInternal, "a reader of the arena answered step {}; {} answers to step {} are awaited",
                answer.step, pending_, step_);
  }
  --pending_;
}

}  // namespace trainyard::host
