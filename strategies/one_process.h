// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strategies/rank_group.h"

namespace trainyard {

/// Throws kUnsupported unless all ranks are threads of one process. The error names two ranks in different processes.
/// All ranks must call this function, because it exchanges data between them. `where` is the beginning of the error
/// text, which names the strategy.
void check_one_process(RankGroup& ranks, const std::string& where);

}  // namespace trainyard
