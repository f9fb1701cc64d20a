#include "strategies/dp/dp.h"

#include <fmt/format.h>
#include <unistd.h>

#include <random>
#include <utility>

#include "messages/error.h"

namespace trainyard {
namespace {

/// Processes of different hosts may have the same number, hence a second one, drawn once.
std::string process_identity() {
  static const unsigned drawn = std::random_device()();
  return fmt::format("process {} ({:08x})", getpid(), drawn);
}

}  // namespace

/// Before anything else: what follows may need memory that threads share.
void Dp::set_up(const Replica& replica) {
  if (replica.world != nullptr) check_one_process(*replica.world);
  Strategy::set_up(replica);
}

void Dp::check_one_process(Collective& world) const {
  const std::vector<std::string> processes = world.all_gather_texts(process_identity());
  for (std::size_t rank = 1; rank < processes.size(); ++rank) {
    if (processes[rank] == processes[0]) continue;
    throw Error(Code::kUnsupported,
                "{}: all ranks must be threads of one process; rank 0 is in {}, rank {} in {}; place them together, or "
                "use strategy = 'ddp'",
                where(), processes[0], rank, processes[rank]);
  }
}

Pending Dp::reduce(const Bucket& /*bucket*/, at::Tensor gradients) {
  return all_reduce(std::move(gradients), ReduceOp::kMean);
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Dp, "dp", "All ranks are threads of one process; gradients are averaged after backward.")
