// SPDX-License-Identifier: Apache-2.0
#include "tensors/half_emulation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

#include "messages/error.h"

namespace trainyard {
namespace {

at::Tensor through_half(const at::Tensor& values) { return values.to(at::kHalf).to(at::kFloat); }

}  // namespace

HalfEmulation::HalfEmulation(const std::vector<NamedTensor>& parameters, const Arena& arena)
    : masters_(arena.parameters()), rounded_(at::empty_like(masters_)) {
  const at::NoGradGuard no_gradients;
  for (const NamedTensor& named : parameters) {
    at::Tensor parameter = named.tensor;
    if (parameter.scalar_type() != at::kFloat) {
      throw Error(Code::kInternal, "parameter '{}' is {}; mixed precision has float32 masters", named.name,
                  at::toString(parameter.scalar_type()));
    }
    const std::int64_t first = parameter.data_ptr<float>() - masters_.data_ptr<float>();
    parameter.set_data(rounded_.narrow(0, first, parameter.numel()).view(parameter.sizes()));
    // The hook receives the gradient that the backward pass has computed, before it is added to the gradient in the
    // arena.
    parameter.register_hook([](const at::Tensor& gradient) { return through_half(gradient); });
  }
  refresh();
}

void HalfEmulation::refresh() {
  const at::NoGradGuard no_gradients;
  rounded_.copy_(through_half(masters_));
}

}  // namespace trainyard
