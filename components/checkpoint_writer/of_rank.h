// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/error.h"

namespace trainyard {

/// Returns the entry of rank `rank` in a list with one entry for each rank of the run. Throws kInternal if the run has
/// no such rank. `what` names the received message in the error text, such as "the arena".
template <class Entry>
Entry& of_rank(std::vector<Entry>& by_rank, std::uint32_t rank, const char* what) {
  if (rank < by_rank.size()) return by_rank[rank];
  throw Error(Code::kInternal, "{} of rank {} came in a run of {} ranks", what, rank, by_rank.size());
}

}  // namespace trainyard
