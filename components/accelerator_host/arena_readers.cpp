// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/arena_readers.h"

#include "messages/error.h"

namespace trainyard::host {

void ArenaReaders::show(std::uint64_t step) {
  if (answers_.connections() == 0) return;
  runner_.publish_buffers();  // The parameters in host memory are up to date, because the optimizer has changed them.
  step_ = step;
  pending_ = answers_.connections();
  const auto message = output_.loan();
  *message = {.rank = rank_, .step = step};
  output_.send(message);
}

void ArenaReaders::read(const ArenaRead& answer) {
  if (answer.rank != rank_) return;  // A reader of several ranks answers all of them on one topic.
  if (pending_ == 0 || answer.step != step_) {
    throw Error(Code::kInternal, "a reader of the arena answered step {}; {} answers to step {} are awaited",
                answer.step, pending_, step_);
  }
  --pending_;
}

}  // namespace trainyard::host
