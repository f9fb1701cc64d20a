// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devices/device.h"
#include "devices/device_arena.h"
#include "devices/driver.h"
#include "messages/arena.h"

namespace trainyard::devices {

/// The arena of an accelerator host in another process, opened by the optimizer. The optimizer's state is allocated in
/// this process. The device begins each update when the gradients are complete, and signals when the update is done
/// (SharedArena), so this process does not wait during a step.
class OpenedArena final : public DeviceArena {
 public:
  /// `driver` must be the device plugin that `shared` names (DeviceId::kind). Throws what Driver::open,
  /// Device::open_block and Device::open_fence throw, and kCorrupt if the blocks of the parameters and of the gradients
  /// differ in size.
  OpenedArena(std::unique_ptr<Driver> driver, const SharedArena& shared);
  ~OpenedArena() override;

  std::string device() const override;
  std::unique_ptr<Update> make_update(const UpdateRequest& request) override;
  std::vector<BlockHandle> state_handles() const override;

 private:
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  DType dtype_;
  Region parameters_;
  Region gradients_;
  std::vector<Region> state_;
  std::shared_ptr<Fence> gradients_ready_;
  std::shared_ptr<Fence> parameters_ready_;
};

}  // namespace trainyard::devices
