// SPDX-License-Identifier: Apache-2.0
#include "transforms/testing/contract.h"

namespace trainyard::testing {
namespace {

const TransformContract random_crop("random_crop", [](const TemporaryFolder&) {
  return TransformCase{.parameters = R"({"size": 5})"};
});

}  // namespace
}  // namespace trainyard::testing
