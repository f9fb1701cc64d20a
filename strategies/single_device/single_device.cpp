// SPDX-License-Identifier: Apache-2.0
#include "strategies/single_device/single_device.h"

TRAINYARD_STRATEGY(trainyard::SingleDevice, "single_device", "One rank on one device.")
