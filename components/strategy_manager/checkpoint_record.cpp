// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/checkpoint_record.h"

namespace trainyard::manager {

void CheckpointRecord::take(std::uint64_t order, const Place& place) {
  taken_ = place;
  if (written_early_.erase(order) == 0) unwritten_.insert(order);
}

void CheckpointRecord::write(const CheckpointDone& done) {
  error_ = done.error;
  if (unwritten_.erase(done.order) == 0) written_early_.insert(done.order);
}

}  // namespace trainyard::manager
