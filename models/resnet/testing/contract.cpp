// SPDX-License-Identifier: Apache-2.0
#include "models/testing/contract.h"

namespace trainyard::testing {
namespace {

const ModelContract resnet("resnet", [](const TemporaryFolder&) {
  return ModelCase{.parameters = R"({"width": 4})", .data = {}};
});

}  // namespace
}  // namespace trainyard::testing
