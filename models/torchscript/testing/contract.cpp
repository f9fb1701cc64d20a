// SPDX-License-Identifier: Apache-2.0
#include "models/testing/contract.h"

#include <ATen/ops/rand.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>

namespace trainyard::testing {
namespace {

/// A single linear layer for the test's dataset "vectors", whose samples have 6 numbers and one of 3 classes.
const ModelContract torchscript("torchscript", [](const TemporaryFolder& folder) {
  torch::jit::Module net("net");
  net.register_parameter("weight", at::rand({6, 3}).set_requires_grad(true), /*is_buffer=*/false);
  net.register_parameter("bias", at::rand({3}).set_requires_grad(true), /*is_buffer=*/false);
  net.define("def forward(self, x):\n    return torch.matmul(x, self.weight) + self.bias\n");
  net.save(folder.path("net.pt"));
  return ModelCase{.parameters = fmt::format(R"({{"path": "{}", "trust": true}})", folder.path("net.pt")),
                   .data = {"vectors"}};
});

}  // namespace
}  // namespace trainyard::testing
