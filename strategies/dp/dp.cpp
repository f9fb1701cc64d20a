// SPDX-License-Identifier: Apache-2.0
#include "strategies/dp/dp.h"

TRAINYARD_STRATEGY(trainyard::Dp, "dp",
                   "All ranks are threads of one process; gradients are averaged after the backward pass.")
