#include "strategies/ddp/ddp.h"

#include <utility>

namespace trainyard {

Pending Ddp::reduce(const Bucket& /*bucket*/, at::Tensor gradients) {
  return all_reduce(std::move(gradients), ReduceOp::kMean);
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Ddp, "ddp", "A process for every rank; gradients are averaged while backward runs.")
