// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strategies/rank_group.h"

namespace trainyard {

/// Throws kUnsupported, naming two ranks and their processes, unless all ranks are threads of one process. All ranks
/// must call this function, because it waits for the identities of all processes. `where` names the strategy in the
/// error.
void check_one_process(RankGroup& ranks, const std::string& where);

}  // namespace trainyard
