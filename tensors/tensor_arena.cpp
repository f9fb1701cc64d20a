// SPDX-License-Identifier: Apache-2.0
#include "tensors/tensor_arena.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
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

Values square_root(const Values& x) { return {x.tensor.sqrt()}; }
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

at::ScalarType state_type_of(at::ScalarType parameters) {
  if (parameters == at::kDouble) return at::kDouble;
  if (parameters == at::kFloat || parameters == at::kBFloat16 || parameters == at::kHalf) return at::kFloat;
  throw Error(Code::kUnsupported,
              "the optimizer was given {} parameters; float64, float32, bfloat16 and float16 are supported",
              name_of(dtype_of(parameters)));
}

class TensorUpdate final : public devices::Update {
 public:
  TensorUpdate(devices::Formula formula, std::vector<devices::UpdateRange> ranges, at::Tensor parameters,
               at::Tensor gradients, std::vector<at::Tensor> state)
      : formula_(formula),
        ranges_(std::move(ranges)),
        parameters_(std::move(parameters)),
        gradients_(std::move(gradients)),
        state_(std::move(state)) {}

  void run(std::span<const Coefficients<double>> coefficients) override {
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (parameters_.scalar_type() == at::kDouble) {
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
    const at::ScalarType type = state_type_of(parameters_.scalar_type());
    at::Tensor parameters = parameters_.narrow(0, first, count), gradients = gradients_.narrow(0, first, count);
    const Values p{parameters.to(type)};
    const Values g = Values{gradients.to(type)} * c.gradient_scale;
    Values state[3];
    for (std::size_t i = 0; i < state_.size(); ++i) state[i].tensor = state_[i].narrow(0, first, count);
    const std::vector<at::Tensor> before = {state[0].tensor, state[1].tensor, state[2].tensor};
    const Values updated = devices::with_rule(
        formula_, [&](auto rule) { return decltype(rule)::update(p, g, state[0], state[1], state[2], c); });
    for (std::size_t i = 0; i < state_.size(); ++i) at::Tensor(before[i]).copy_(state[i].tensor);
    parameters.copy_(updated.tensor);
    gradients.zero_();
  }

  devices::Formula formula_;
  std::vector<devices::UpdateRange> ranges_;
  at::Tensor parameters_;
  at::Tensor gradients_;
  std::vector<at::Tensor> state_;
};

}  // namespace

TensorArena::TensorArena(DeviceMemory own, at::Tensor parameters, at::Tensor gradients)
    : own_(std::move(own)), parameters_(std::move(parameters)), gradients_(std::move(gradients)) {}

std::string TensorArena::device() const { return parameters_.device().str(); }

std::unique_ptr<devices::Update> TensorArena::make_update(const devices::UpdateRequest& request) {
  const at::NoGradGuard no_gradients;
  const DType state_type = dtype_of(state_type_of(parameters_.scalar_type()));
  const auto elements = static_cast<std::uint64_t>(parameters_.numel());
  for (const devices::UpdateRange& range : request.ranges) {
    if (range.begin <= elements && range.count <= elements - range.begin) continue;
    throw Error(Code::kShapeMismatch,
                "an update of {} elements from element {} on is beyond the {} elements of the rank", range.count,
                range.begin, elements);
  }
  const std::size_t states =
      devices::with_rule(request.formula, [](auto rule) { return static_cast<std::size_t>(decltype(rule)::kStates); });
  if (request.state.size() != states) {
    throw Error(Code::kShapeMismatch, "the formula has {} state blocks, {} were given", states, request.state.size());
  }
  std::vector<at::Tensor> state;
  for (const Tensor& block : request.state) {
    if (block.offset != 0 || block.dtype != state_type || static_cast<std::uint64_t>(block.elements()) != elements) {
      throw Error(Code::kShapeMismatch, "a block of optimizer state is {} {}; it must be {} [{}]", name_of(block.dtype),
                  to_text(block.shape), name_of(state_type), elements);
    }
    state_.emplace_back(block.buffer, block.dtype, own_);
    state.push_back(state_.back().flat().narrow(0, 0, parameters_.numel()));
  }
  state_to_device();
  updated_here_ = true;
  return std::make_unique<TensorUpdate>(request.formula, request.ranges, parameters_, gradients_, std::move(state));
}

void TensorArena::state_to_host() const {
  for (const MirroredBlock& block : state_) block.to_host(devices::Purpose::kSnapshot);
}

void TensorArena::state_to_device() const {
  for (const MirroredBlock& block : state_) block.to_device(devices::Purpose::kState);
}

}  // namespace trainyard
