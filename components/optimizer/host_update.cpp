// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/host_update.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "components/optimizer/rule.h"
#include "messages/error.h"

namespace trainyard::optimizer {

HostUpdate::HostUpdate(devices::UpdateRequest request, Tensor parameters, Tensor gradients, const KernelSet& kernels)
    : request_(std::move(request)),
      parameters_(std::move(parameters)),
      gradients_(std::move(gradients)),
      kernels_(kernels) {
  const DType state_dtype = devices::state_type_of(parameters_.dtype);
  const auto check_block = [this](const Tensor& block, std::string_view what, DType dtype) {
    if (block.dtype == dtype && block.elements() == parameters_.elements()) return;
    throw Error(Code::kShapeMismatch, "the block of {} is {} {}, that of the parameters {} {}{}", what,
                name_of(block.dtype), to_text(block.shape), name_of(parameters_.dtype), to_text(parameters_.shape),
                dtype == parameters_.dtype ? "" : fmt::format("; it must be {}", name_of(dtype)));
  };
  check_block(gradients_, "gradients", parameters_.dtype);
  const auto names = state_names(request_.formula);
  if (names.size() != request_.state.size()) {
    throw Error(Code::kInternal, "the formula has {} state blocks, {} were given", names.size(), request_.state.size());
  }
  for (std::size_t i = 0; i < names.size(); ++i) check_block(request_.state[i], names[i], state_dtype);
}

void HostUpdate::run(std::span<const Coefficients<double>> coefficients) {
  switch (parameters_.dtype) {
    case DType::kFloat64:
      return run_as<double>(coefficients);
    case DType::kBFloat16:
      return run_as<BFloat16>(coefficients);
    case DType::kFloat16:
      return run_as<Float16>(coefficients);
    default:
      return run_as<float>(coefficients);  // The constructor accepts no other type.
  }
}

template <class T>
void HostUpdate::run_as(std::span<const Coefficients<double>> coefficients) const {
  using A = Arithmetic<T>;
  const Kernel<T> kernel = kernels_.get<T>(request_.formula);
  const auto at = [](const Tensor& block, std::uint64_t begin) { return reinterpret_cast<T*>(block.data()) + begin; };
  for (std::size_t r = 0; r < request_.ranges.size(); ++r) {
    const devices::UpdateRange& range = request_.ranges[r];
    Slices<T> slices{at(parameters_, range.begin), at(gradients_, range.begin), {}, range.count};
    for (std::size_t i = 0; i < request_.state.size(); ++i) {
      slices.state[i] = reinterpret_cast<A*>(request_.state[i].data()) + range.begin;
    }
    kernel(slices, devices::rounded<A>(coefficients[r]));
  }
}

}  // namespace trainyard::optimizer
