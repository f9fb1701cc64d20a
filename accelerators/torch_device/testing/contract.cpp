// SPDX-License-Identifier: Apache-2.0
#include "accelerators/testing/contract.h"

namespace trainyard::testing {
namespace {

/// The contract test uses the CPU, because it is the only device that every LibTorch supports.
const AcceleratorContract torch_device("torch_device", [](const TemporaryFolder&) {
  return AcceleratorCase{.parameters = R"({"device_type": "cpu"})"};
});

}  // namespace
}  // namespace trainyard::testing
