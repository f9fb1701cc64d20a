// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/snapshots.h"

#include <utility>
#include <vector>

#include "core/state/packed_tensors.h"

namespace trainyard::host {

bool Snapshots::ask(const Order& order, const RunPosition& position) {
  runner_.begin_snapshot();  // Every rank calls this, even a rank of which nothing is saved.
  if (output_.connections() == 0) return false;
  ++pending_;
  std::vector<SavedState> states = runner_.states();
  if (rank_ == 0) states.insert(states.end(), order.states.begin(), order.states.end());
  fit_into_message(states);
  send_when_copied({.rank = rank_,
                    .order = order.id,
                    .step = position.step,
                    .epoch = position.epoch,
                    .samples = position.samples,
                    .reason = order.reason,
                    .cursor = position.cursor,
                    .skipped_steps = runner_.skipped_steps(),
                    .metrics = order.metrics,
                    .settings = order.settings,
                    .states = std::move(states)});
  return true;
}

void Snapshots::send_when_copied(Snapshot message) {
  SnapshotCopies* copies = runner_.snapshot_copies();
  if (copies == nullptr) return output_.send(std::move(message));
  copying_.push_back(std::move(message));
  copies->when_complete([this, run_later = run_later_] { run_later([this] { finish(); }); });
}

void Snapshots::finish() {
  if (copying_.empty()) return;
  runner_.snapshot_copies()->check();
  for (Snapshot& message : copying_) output_.send(std::move(message));
  copying_.clear();
}

void Snapshots::taken() {
  if (pending_ > 0) --pending_;
}

}  // namespace trainyard::host
