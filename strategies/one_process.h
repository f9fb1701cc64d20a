// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strategies/rank_group.h"

namespace trainyard {

/// Throws kUnsupported unless all ranks are threads of one process. The error names two ranks in different processes,
/// and begins with `where`, which names the strategy. All ranks must call this function, because it exchanges data
/// between them.
void check_one_process(RankGroup& ranks, const std::string& where);

}  // namespace trainyard
