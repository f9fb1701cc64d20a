// SPDX-License-Identifier: Apache-2.0
#include "strategies/rank_group.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

#include "tensors/bridge.h"

namespace trainyard {

using collectives::OperationKind;

namespace {

MemorySpace space_of(at::Device device) {
  if (device.is_cpu()) return {};
  return {MemoryKind::kDevice, static_cast<std::uint16_t>(std::max<int>(device.index(), 0))};
}

/// Waits until the device has done what was submitted to its current stream: a collective works on streams of its own,
/// which know nothing of this one.
void wait_for_current_stream(at::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  guard.synchronizeStream(guard.getStream(device));
}

}  // namespace

Elements elements_of(const at::Tensor& flat) {
  return {flat.data_ptr(), dtype_of(flat.scalar_type()), static_cast<std::uint64_t>(flat.numel()),
          space_of(flat.device())};
}

/// Returns true if the collective can work in the memory of the tensor, which is on a device. Integers and bools are
/// always reduced in host memory, where their mean cannot overflow.
bool RankGroup::works_in_place(OperationKind kind, const at::Tensor& flat) const {
  const bool reduces = kind == OperationKind::kAllReduce || kind == OperationKind::kReduceScatter;
  if (reduces && !at::isFloatingType(flat.scalar_type())) return false;
  return collective_->serves(kind, space_of(flat.device()));
}

/// Runs `operation` on the tensor itself if possible, and otherwise on a copy in host memory, which is copied back.
template <class Operation>
Work RankGroup::run(collectives::OperationKind kind, const at::Tensor& flat, const Operation& operation) {
  if (flat.device().is_cpu()) return operation(elements_of(flat));
  if (works_in_place(kind, flat)) {
    wait_for_current_stream(flat.device());
    return operation(elements_of(flat));
  }
  const at::NoGradGuard no_gradients;
  const at::Tensor host = moved_to(at::kCPU, flat);
  operation(elements_of(host)).wait();
  copy(host, flat);
  return {};
}

Work RankGroup::all_reduce(const at::Tensor& flat, ReduceOp op) {
  if (is_alone()) return {};
  return run(OperationKind::kAllReduce, flat, [&](Elements elements) { return collective_->all_reduce(elements, op); });
}

Work RankGroup::broadcast(const at::Tensor& flat, std::uint32_t root) {
  if (is_alone()) return {};
  return run(OperationKind::kBroadcast, flat,
             [&](Elements elements) { return collective_->broadcast(elements, root); });
}

Work RankGroup::reduce_scatter(const at::Tensor& flat, ReduceOp op, std::span<const std::uint64_t> bounds) {
  if (is_alone()) return {};
  return run(OperationKind::kReduceScatter, flat,
             [&](Elements elements) { return collective_->reduce_scatter(elements, op, bounds); });
}

Work RankGroup::all_gather(const at::Tensor& flat, std::span<const std::uint64_t> bounds) {
  if (is_alone()) return {};
  return run(OperationKind::kAllGather, flat,
             [&](Elements elements) { return collective_->all_gather(elements, bounds); });
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

at::Tensor RankGroup::moved_to(at::Device device, const at::Tensor& tensor) const {
  at::Tensor moved = tensor.to(device);
  count(tensor.device(), moved);
  return moved;
}

void RankGroup::copy(const at::Tensor& from, const at::Tensor& to) const {
  // What crosses is converted first, so that its bytes are those of the type of `to`.
  const bool crosses = from.device() != to.device();
  at::Tensor(to).copy_(crosses ? from.to(to.scalar_type()) : from);
  count(from.device(), to);
}

/// Counts the bytes of `copy`, which was copied from `source`.
void RankGroup::count(at::Device source, const at::Tensor& copy) const {
  if (!link_ || source == copy.device()) return;
  if (copy.device().is_cpu()) link_->add_to_host(devices::Purpose::kCollectives, copy.nbytes());
  if (source.is_cpu()) link_->add_to_device(devices::Purpose::kCollectives, copy.nbytes());
}

void RankGroup::abort(const std::string& reason) noexcept {
  if (!is_alone()) collective_->abort(reason);
}

void RankGroup::use(const Buffer& memory) {
  if (!is_alone()) collective_->use(memory);
}

}  // namespace trainyard
