// SPDX-License-Identifier: Apache-2.0
#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include "messages/error.h"
#include "tensors/fused/ops.h"
#include "tensors/fused/usable.h"

namespace trainyard::fused {

// With LibTorch's operations, an embedding takes four passes over tensors of shape (N, D): a lookup in each table, the
// addition, and a scatter for each gradient. The kernel needs two.

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Throws kCorrupt if a token is not in the table, because the kernel would read past the end of the table. Costs one
/// comparison per token.
void check_indices(const at::Tensor& index, std::int64_t tokens) {
  const auto* numbers = index.data_ptr<std::int64_t>();
  for (std::int64_t n = 0; n < index.numel(); ++n) {
    if (numbers[n] < 0 || numbers[n] >= tokens) {
      throw Error(Code::kCorrupt, "token {} at place {} of the batch is not in the vocabulary of {}", numbers[n], n,
                  tokens);
    }
  }
}

template <class T>
void add_row(std::int64_t width, const T* from, T* to) {
  for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
}

/// The lookup in both tables as an autograd function. The forward and the backward pass each go through the batch once,
/// in order.
struct Embed : torch::autograd::Function<Embed> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& index, const at::Tensor& tokens,
                            const at::Tensor& positions) {
    const std::int64_t width = tokens.size(1);
    at::Tensor out = at::empty({index.numel(), width}, tokens.options());
    AT_DISPATCH_FLOATING_TYPES(tokens.scalar_type(), "embed", [&] {
      const auto* numbers = index.data_ptr<std::int64_t>();
      auto* row = out.data_ptr<scalar_t>();
      for (std::int64_t n = 0; n < index.numel(); ++n, row += width) {
        const scalar_t* token = tokens.data_ptr<scalar_t>() + numbers[n] * width;
        const scalar_t* position = positions.data_ptr<scalar_t>() + n % index.size(1) * width;
        for (std::int64_t c = 0; c < width; ++c) row[c] = token[c] + position[c];
      }
    });
    context->save_for_backward({index});
    context->saved_data["tokens"] = tokens.size(0);
    context->saved_data["positions"] = positions.size(0);
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor index = context->get_saved_variables()[0];
    const at::Tensor gradient = gradients[0].contiguous();
    const std::int64_t width = gradient.size(1);
    // The gradient is a dense tensor although only few rows differ from zero, because it is added to a dense block of
    // the arena anyway.
    at::Tensor tokens = at::zeros({context->saved_data["tokens"].toInt(), width}, gradient.options());
    at::Tensor positions = at::zeros({context->saved_data["positions"].toInt(), width}, gradient.options());
    AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "embed_backward", [&] {
      const auto* numbers = index.data_ptr<std::int64_t>();
      const auto* row = gradient.data_ptr<scalar_t>();
      for (std::int64_t n = 0; n < index.numel(); ++n, row += width) {
        // This runs in order on one thread: if a token occurs twice, its gradients are added, and a sum of floats
        // depends on the order.
        add_row(width, row, tokens.data_ptr<scalar_t>() + numbers[n] * width);
        add_row(width, row, positions.data_ptr<scalar_t>() + n % index.size(1) * width);
      }
    });
    return {at::Tensor(), tokens, positions};
  }
};

}  // namespace

// Uses LibTorch's own operations for other devices and dtypes. They produce the same gradients up to rounding.
at::Tensor embed(const at::Tensor& index_BT, const at::Tensor& tokens_VD, const at::Tensor& positions_TD) {
  if (!usable({&tokens_VD, &positions_TD}) || !index_BT.is_contiguous() || index_BT.scalar_type() != at::kLong) {
    const at::Tensor sum = at::embedding(tokens_VD, index_BT) + positions_TD.narrow(0, 0, index_BT.size(1));
    return sum.view({-1, tokens_VD.size(1)});
  }
  if (index_BT.size(1) > positions_TD.size(0)) {
    throw Error(Code::kShapeMismatch, "{} tokens in a row; there are positions for {}", index_BT.size(1),
                positions_TD.size(0));
  }
  check_indices(index_BT, tokens_VD.size(0));
  return Embed::apply(index_BT, tokens_VD, positions_TD);
}

}  // namespace trainyard::fused
