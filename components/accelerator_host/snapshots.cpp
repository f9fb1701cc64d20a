// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/snapshots.h"

namespace trainyard::host {

bool Snapshots::ask(const Order& order, const RunPosition& position) {
  runner_.begin_snapshot();  // This happens on all ranks, even on those of which nothing is written.
  if (output_.connections() == 0) return false;
  ++pending_;
  output_.send(Snapshot{.rank = rank_,
                        .order = order.id,
                        .step = position.step,
                        .epoch = position.epoch,
                        .samples = position.samples,
                        .reason = order.reason,
                        .cursor = position.cursor,
                        .rng = runner_.rng_state(),
                        .metrics = order.metrics,
                        .host_state = runner_.state(),
                        .settings = order.settings});
  return true;
}

void Snapshots::taken() {
  if (pending_ > 0) --pending_;
}

}  // namespace trainyard::host
