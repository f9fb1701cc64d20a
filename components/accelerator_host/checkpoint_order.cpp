// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/checkpoint_order.h"

#include <spdlog/spdlog.h>

namespace trainyard::host {

void CheckpointOrder::begin() {
  workplace().runner.check_parameters(workplace().position.step);
  if (workplace().snapshots.ask(order(), workplace().position)) return;
  workplace().context.log->warn("order {} asks for a checkpoint ('{}'), but nothing listens to 'snapshot'", order().id,
                                order().reason);
}

}  // namespace trainyard::host
