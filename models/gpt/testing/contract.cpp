// SPDX-License-Identifier: Apache-2.0
#include "models/testing/contract.h"

namespace trainyard::testing {
namespace {

const ModelContract gpt("gpt", [](const TemporaryFolder&) {
  return ModelCase{.parameters = R"({"layers": 2, "heads": 2, "width": 32, "sample_tokens": 3})", .data = {}};
});

}  // namespace
}  // namespace trainyard::testing
