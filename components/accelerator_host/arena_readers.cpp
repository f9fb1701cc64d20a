// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/arena_readers.h"

#include <algorithm>

#include "core/component/partners.h"
#include "messages/error.h"

namespace trainyard::host {

// The optimizer may change the parameters although a reader has not answered only if the reader's process has died.
bool ArenaReaders::pending() const {
  if (awaited_.empty()) return false;
  const core::Partners readers = core::partners_of(output_, answers_);
  return std::ranges::any_of(awaited_, [&](std::uint32_t reader) { return readers.living.contains(reader); });
}

// A reader that exists once in the run is connected to the input `answers` of every rank, but may receive ArenaReadable
// only from rank 0, so it is a reader of rank 0 only.
void ArenaReaders::show(std::uint64_t step) {
  if (answers_.connections() == 0) return;
  const core::Partners readers = core::partners_of(output_, answers_);
  if (readers.living.empty() && readers.dead.empty()) return;
  runner_.publish_to_readers();
  // Only readers that have died can still be awaited here.
  for (const std::uint32_t reader : awaited_) lost_[reader] = step_;
  step_ = step;
  const auto message = output_.loan();
  *message = {.rank = rank_, .step = step};
  output_.send(message);
  // After sending, because only then it is known that a reader has been restarted.
  awaited_ = core::partners_of(output_, answers_).living;
}

void ArenaReaders::read(const ArenaRead& answer, std::uint32_t reader) {
  // A reader of several ranks sends all its answers on one topic, to all of these ranks.
  if (answer.rank != rank_) return;
  if (answer.step == step_ && awaited_.erase(reader) != 0) return;
  // The reader has died after it sent this answer, and the answer has been overtaken by the news of the death.
  if (const auto lost = lost_.find(reader); lost != lost_.end() && answer.step <= lost->second) return;
  throw Error(Code::kInternal, "a reader of the arena answered step {}; {} answers to step {} are awaited", answer.step,
              awaited_.size(), step_);
}

}  // namespace trainyard::host
