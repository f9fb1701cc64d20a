// SPDX-License-Identifier: Apache-2.0
#include "strategies/local_sgd/local_sgd.h"

TRAINYARD_STRATEGY(trainyard::LocalSgd, "local_sgd",
                   "Ranks make steps alone and average their parameters every few steps.")
