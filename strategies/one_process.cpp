// SPDX-License-Identifier: Apache-2.0
#include "strategies/one_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "messages/error.h"

namespace trainyard {
namespace {

/// Returns a text that is unique to this process. Processes on different hosts may have the same id, so the text also
/// contains a random number, which is drawn once.
std::string process_identity() {
  static const unsigned drawn = std::random_device()();
  return fmt::format("process {} ({:08x})", getpid(), drawn);
}

}  // namespace

void check_one_process(RankGroup& ranks, const std::string& where) {
  const std::vector<std::string> processes = ranks.all_gather_texts(process_identity());
  for (std::size_t rank = 1; rank < processes.size(); ++rank) {
    if (processes[rank] == processes[0]) continue;
    throw Error(Code::kUnsupported,
                "{}: all ranks must be threads of one process; rank 0 is in {}, rank {} in {}; place them together, or "
                "use strategy = 'ddp'",
                where, processes[0], rank, processes[rank]);
  }
}

}  // namespace trainyard
