// SPDX-License-Identifier: Apache-2.0
#include "tensors/tensor_update.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <utility>

#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

using devices::Coefficients;

/// The elements that an operation works on at a time. The temporary tensors of an update have this size.
constexpr std::int64_t kPiece = std::int64_t{1} << 22;

/// Many elements as one value of an update rule.
struct Values {
  at::Tensor tensor;
};

Values operator+(const Values& a, const Values& b) { return {a.tensor + b.tensor}; }
Values operator+(const Values& a, double b) { return {a.tensor + b}; }
Values operator-(const Values& a, const Values& b) { return {a.tensor - b.tensor}; }
Values operator-(const Values& a) { return {-a.tensor}; }
Values operator*(const Values& a, const Values& b) { return {a.tensor * b.tensor}; }
Values operator*(double a, const Values& b) { return {b.tensor * a}; }
Values operator*(const Values& a, double b) { return {a.tensor * b}; }
Values operator/(const Values& a, const Values& b) { return {a.tensor / b.tensor}; }
Values operator/(const Values& a, double b) { return {a.tensor / b}; }

/// Since version 2, LibTorch takes the square root on the processor from a library whose last bit can be wrong.
template <class T>
at::Tensor rounded_square_root(const at::Tensor& x) {
  at::Tensor root = at::empty_like(x, at::MemoryFormat::Contiguous);
  const at::Tensor values = x.contiguous();
  const T* from = values.data_ptr<T>();
  T* to = root.data_ptr<T>();
  for (std::int64_t i = 0; i < values.numel(); ++i) to[i] = devices::square_root(from[i]);
  return root;
}

Values square_root(const Values& x) {
  if (!x.tensor.is_cpu()) return {x.tensor.sqrt()};
  return {x.tensor.scalar_type() == at::kDouble ? rounded_square_root<double>(x.tensor)
                                                : rounded_square_root<float>(x.tensor)};
}
Values larger(const Values& a, const Values& b) { return {at::where(a.tensor > b.tensor, a.tensor, b.tensor)}; }
Values not_negative(const Values& x) { return {x.tensor.clamp_min(0)}; }

// Every operation rounds, as in the processor's kernels for float32.
Values multiply_add(double a, const Values& b, const Values& c) { return c + a * b; }
Values multiply_add(const Values& a, const Values& b, const Values& c) { return c + a * b; }
Values add_square(double gain, const Values& g, const Values& c) { return c + gain * (g * g); }

Values corrected_root(const Values& square, const Coefficients<float>& c) { return square_root(square) * c.root_scale; }
Values corrected_root(const Values& square, const Coefficients<double>& c) {
  return square_root(square) / c.root_divisor;
}

Values descend(const Values& p, float step, const Values& g, const Values& denominator) {
  return p - step * (g / denominator);
}
Values descend(const Values& p, double step, const Values& g, const Values& denominator) {
  return p - step * g / denominator;
}

class TensorUpdate final : public devices::Update {
 public:
  TensorUpdate(devices::Formula formula, std::vector<devices::UpdateRange> ranges, UpdateBlocks blocks)
      : formula_(formula), ranges_(std::move(ranges)), blocks_(std::move(blocks)) {}

  void run(std::span<const Coefficients<double>> coefficients) override {
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (blocks_.parameters.scalar_type() == at::kDouble) {
        update_range(ranges_[i], coefficients[i]);
      } else {
        update_range(ranges_[i], devices::rounded<float>(coefficients[i]));
      }
    }
  }

 private:
  template <class T>
  void update_range(const devices::UpdateRange& range, const Coefficients<T>& coefficients) {
    const auto begin = static_cast<std::int64_t>(range.begin),
               end = static_cast<std::int64_t>(range.begin + range.count);
    for (std::int64_t first = begin; first < end; first += kPiece) {
      update_piece(first, std::min(kPiece, end - first), coefficients);
    }
  }

  template <class T>
  void update_piece(std::int64_t first, std::int64_t count, const Coefficients<T>& c) {
    const at::ScalarType type = update_state_type(blocks_.parameters.scalar_type());
    at::Tensor parameters = blocks_.parameters.narrow(0, first, count),
               gradients = blocks_.gradients.narrow(0, first, count);
    const Values p{parameters.to(type)};
    const Values g = Values{gradients.to(type)} * c.gradient_scale;
    Values state[3];
    for (std::size_t i = 0; i < blocks_.state.size(); ++i) state[i].tensor = blocks_.state[i].narrow(0, first, count);
    const std::vector<at::Tensor> before = {state[0].tensor, state[1].tensor, state[2].tensor};
    const Values updated = devices::with_rule(
        formula_, [&](auto rule) { return decltype(rule)::update(p, g, state[0], state[1], state[2], c); });
    for (std::size_t i = 0; i < blocks_.state.size(); ++i) at::Tensor(before[i]).copy_(state[i].tensor);
    parameters.copy_(updated.tensor);
    gradients.zero_();
  }

  devices::Formula formula_;
  std::vector<devices::UpdateRange> ranges_;
  UpdateBlocks blocks_;
};

}  // namespace

at::ScalarType update_state_type(at::ScalarType parameters) {
  return scalar_type_of(devices::state_type_of(dtype_of(parameters)));
}

std::unique_ptr<devices::Update> make_tensor_update(const devices::UpdateRequest& request, UpdateBlocks blocks) {
  return std::make_unique<TensorUpdate>(request.formula, request.ranges, std::move(blocks));
}

}  // namespace trainyard
