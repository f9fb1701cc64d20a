#include "strategies/single_device/single_device.h"

#include "messages/error.h"

namespace trainyard {

void SingleDevice::check_world_size(std::uint32_t world_size) const {
  if (world_size == 1) return;
  throw Error(Code::kUnsupported, "{}: it serves 1 rank, the run has {}; use strategy = 'ddp' for several", where(),
              world_size);
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::SingleDevice, "single_device", "One rank on one device.")
