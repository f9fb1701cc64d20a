// SPDX-License-Identifier: Apache-2.0
#include "strategies/rank_group.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "tensors/bridge.h"

namespace trainyard {

/// Runs `operation` on the tensor itself if it is in host memory, and otherwise on a copy in host memory, which is
/// copied back.
template <class Operation>
Work RankGroup::on_host(const at::Tensor& flat, const Operation& operation) {
  if (flat.device().is_cpu()) return operation(elements_of(flat));
  const at::NoGradGuard no_gradients;
  const at::Tensor host = flat.to(at::kCPU);
  operation(elements_of(host)).wait();
  at::Tensor(flat).copy_(host);
  if (link_) {
    link_->add_to_host(devices::Purpose::kCollectives, flat.nbytes());
    link_->add_to_device(devices::Purpose::kCollectives, flat.nbytes());
  }
  return {};
}

Elements elements_of(const at::Tensor& host) {
  return {host.data_ptr(), dtype_of(host.scalar_type()), static_cast<std::uint64_t>(host.numel())};
}

Work RankGroup::all_reduce(const at::Tensor& flat, ReduceOp op) {
  if (is_alone()) return {};
  return on_host(flat, [&](Elements elements) { return collective_->all_reduce(elements, op); });
}

Work RankGroup::broadcast(const at::Tensor& flat, std::uint32_t root) {
  if (is_alone()) return {};
  return on_host(flat, [&](Elements elements) { return collective_->broadcast(elements, root); });
}

Work RankGroup::reduce_scatter(const at::Tensor& flat, ReduceOp op, std::span<const std::uint64_t> bounds) {
  if (is_alone()) return {};
  return on_host(flat, [&](Elements elements) { return collective_->reduce_scatter(elements, op, bounds); });
}

Work RankGroup::all_gather(const at::Tensor& flat, std::span<const std::uint64_t> bounds) {
  if (is_alone()) return {};
  return on_host(flat, [&](Elements elements) { return collective_->all_gather(elements, bounds); });
}

double RankGroup::sum(double value) {
  if (!is_alone()) collective_->all_reduce({&value, DType::kFloat64, 1}, ReduceOp::kSum).wait();
  return value;
}

bool RankGroup::any(bool here) {
  std::uint8_t value = here ? 1 : 0;
  if (!is_alone()) collective_->all_reduce({&value, DType::kUInt8, 1}, ReduceOp::kMax).wait();
  return value != 0;
}

std::vector<std::string> RankGroup::all_gather_texts(const std::string& text) {
  return is_alone() ? std::vector<std::string>{text} : collective_->all_gather_texts(text);
}

void RankGroup::progress() {
  if (!is_alone()) collective_->progress();
}

at::Tensor RankGroup::scratch(std::int64_t elements, const at::TensorOptions& options) {
  if (is_alone() || elements == 0 || !options.device().is_cpu()) return at::empty({elements}, options);
  const DType dtype = dtype_of(c10::typeMetaToScalarType(options.dtype()));
  return view_of({dtype, {elements}, 0, collective_->allocate(static_cast<std::size_t>(elements) * size_of(dtype))});
}

void RankGroup::abort(const std::string& reason) noexcept {
  if (!is_alone()) collective_->abort(reason);
}

void RankGroup::use(const Buffer& memory) {
  if (!is_alone()) collective_->use(memory);
}

}  // namespace trainyard
