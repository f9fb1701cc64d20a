// SPDX-License-Identifier: Apache-2.0
#include <ATen/Dispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <tuple>

#include "messages/error.h"
#include "tensors/fused/ops.h"
#include "tensors/fused/pointwise_kernel.h"
#include "tensors/fused/usable.h"

// The operations that a device can implement (TORCH_LIBRARY_IMPL), as accelerators/cuda/cross_entropy.cpp does.
// `logits` is (N, V) in float32, bfloat16 or float16, and `target` (N) in int64; both are contiguous. The loss is the
// mean over the rows, in float32. `log_sums` (N) is what the backward pass needs besides: for each row, the logarithm
// of the sum of the exponentials. The gradient of the loss is multiplied by `factor`.
TORCH_LIBRARY(trainyard, library) {
  library.def("cross_entropy(Tensor logits, Tensor target) -> (Tensor loss, Tensor log_sums)");
  library.def("cross_entropy_backward(Tensor factor, Tensor logits, Tensor target, Tensor log_sums) -> Tensor");
}

// The functions below compute the gradients, so LibTorch's autograd passes the operations on. For PrivateUse1 it would
// otherwise refuse them.
TORCH_LIBRARY_IMPL(trainyard, Autograd, library) {
  library.impl("cross_entropy", torch::CppFunction::makeFallthrough());
  library.impl("cross_entropy_backward", torch::CppFunction::makeFallthrough());
}

namespace trainyard::fused {
namespace {

constexpr const char* kOperation = "trainyard::cross_entropy";
constexpr const char* kBackward = "trainyard::cross_entropy_backward";

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The cross entropy as an autograd function. The forward pass computes and saves the probabilities. The gradient of
/// the logits equals the probabilities, minus 1 for the right class.
struct CrossEntropy : torch::autograd::Function<CrossEntropy> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& target) {
    const std::int64_t classes = logits.size(1);
    const at::Tensor probabilities = at::empty(logits.sizes(), logits.options());
    // The losses of the rows are added up in double precision and in order, so that the mean over thousands of rows
    // stays accurate and is the same every time.
    double loss = 0;
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "cross_entropy", [&] {
      const auto* right = target.data_ptr<std::int64_t>();
      for (std::int64_t n = 0; n < logits.size(0); ++n) {
        loss += softmax_row(classes, logits.data_ptr<scalar_t>() + n * classes, right[n],
                            probabilities.data_ptr<scalar_t>() + n * classes);
      }
    });
    context->save_for_backward({probabilities, target});
    // One thread is enough, because a vocabulary of characters is small and the rows are therefore short.
    return at::full({}, loss / static_cast<double>(logits.size(0)), logits.options());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    at::Tensor result = at::empty(saved[0].sizes(), saved[0].options());
    const std::int64_t rows = result.size(0);
    const std::int64_t classes = result.size(1);
    // The incoming gradient is normally 1, or the weight of a micro-batch.
    const double factor = gradients[0].item<double>() / static_cast<double>(rows);
    AT_DISPATCH_FLOATING_TYPES(result.scalar_type(), "cross_entropy_backward", [&] {
      const auto scale = static_cast<scalar_t>(factor);
      const auto* right = saved[1].data_ptr<std::int64_t>();
      const auto* probabilities = saved[0].data_ptr<scalar_t>();
      auto* out = result.data_ptr<scalar_t>();
      for (std::int64_t i = 0; i < rows * classes; ++i) out[i] = probabilities[i] * scale;
      for (std::int64_t n = 0; n < rows; ++n) out[n * classes + right[n]] -= scale;
    });
    return {result, at::Tensor()};
  }
};

/// The cross entropy as an autograd function, with the kernels of a device. The kernels do not store the probabilities.
struct DeviceCrossEntropy : torch::autograd::Function<DeviceCrossEntropy> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& target) {
    using Operation = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&);
    static const auto operation = c10::Dispatcher::singleton().findSchemaOrThrow(kOperation, "").typed<Operation>();
    const auto [loss, log_sums] = operation.call(logits, target);
    context->save_for_backward({logits, target, log_sums});
    return loss;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    using Operation = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&);
    static const auto operation = c10::Dispatcher::singleton().findSchemaOrThrow(kBackward, "").typed<Operation>();
    const variable_list saved = context->get_saved_variables();
    return {operation.call(gradients[0], saved[0], saved[1], saved[2]), at::Tensor()};
  }
};

/// Returns true if the device of the tensors has kernels for the cross entropy and the tensors suit them.
bool has_kernel(const at::Tensor& logits, const at::Tensor& target) {
  static const auto operation = c10::Dispatcher::singleton().findSchemaOrThrow(kOperation, "");
  if (logits.scalar_type() == at::kDouble || logits.dim() != 2 || logits.size(0) == 0 || !logits.is_contiguous())
    return false;
  if (target.scalar_type() != at::kLong || target.numel() != logits.size(0) || !target.is_contiguous()) return false;
  return target.device() == logits.device() && operation.hasKernelForDispatchKey(logits.options().computeDispatchKey());
}

/// Throws kCorrupt for a class that does not exist, because the kernel would read and write past the end of a row.
void check_range(const at::Tensor& target, std::int64_t classes) {
  const auto* numbers = target.data_ptr<std::int64_t>();
  for (std::int64_t n = 0; n < target.numel(); ++n) {
    if (numbers[n] < 0 || numbers[n] >= classes) {
      throw Error(Code::kCorrupt, "target {} in row {} is not a class; there are {}, counted from 0", numbers[n], n,
                  classes);
    }
  }
}

}  // namespace

at::Tensor cross_entropy(const at::Tensor& given_NV, const at::Tensor& target_N) {
  // The kernels of devices take 16 bits and compute in float32.
  if (has_kernel(given_NV, target_N)) return DeviceCrossEntropy::apply(given_NV, target_N);
  // In 16 bits, the loss would have only about three significant digits.
  const at::Tensor logits_NV = given_NV.element_size() < 4 ? given_NV.to(at::kFloat) : given_NV;
  // The number of classes need not be a multiple of the lanes, because softmax_row accepts rows of any length.
  if (!usable({&logits_NV}) || !target_N.device().is_cpu() || !target_N.is_contiguous()) {
    return at::cross_entropy_loss(logits_NV, target_N);
  }
  if (target_N.numel() != logits_NV.size(0)) {
    throw Error(Code::kShapeMismatch, "{} targets for {} rows of logits", target_N.numel(), logits_NV.size(0));
  }
  check_range(target_N, logits_NV.size(1));
  return CrossEntropy::apply(logits_NV, target_N);
}

}  // namespace trainyard::fused
