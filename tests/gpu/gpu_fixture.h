// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/integration/training/training_fixture.h"

namespace trainyard::testing {

/// The argument of `trainyard launch` with which a rank trains on a GPU.
inline constexpr const char* kGpu = "component.accelerator_host.params.accelerator={plugin=\"cuda\"}";

/// Returns the place on the PCI bus of the GPU that CUDA counts first, such as "0000:65:00.0". Empty if there is no
/// driver or no GPU. Does not make a CUDA context, so this process takes no memory of the GPU.
std::string bus_id_of_first_gpu();

/// A fixture for training runs on a GPU. All of its tests say that they are skipped if there is none.
class GpuRunTest : public TrainingTest {
 protected:
  void SetUp() override;
};

}  // namespace trainyard::testing
