// SPDX-License-Identifier: Apache-2.0
#include "tensors/mirrored_block.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <utility>

#include "tensors/bridge.h"

namespace trainyard {

MirroredBlock::MirroredBlock(Buffer host, DType dtype, const DeviceMemory& own)
    : host_(std::move(host)), dtype_(dtype), host_view_(view_of(message())), flat_(host_view_), own_(own) {
  if (own_.device) flat_ = at::empty(host_view_.sizes(), host_view_.options().device(*own_.device)).zero_();
}

Tensor MirroredBlock::message() const {
  return {.dtype = dtype_,
          .shape = {static_cast<std::int64_t>(host_.size() / size_of(dtype_))},
          .offset = 0,
          .buffer = host_};
}

at::Tensor MirroredBlock::entry(const ArenaEntry& entry) const {
  const auto dtype = static_cast<DType>(entry.dtype);
  // The view is made from the memory and not from the flat tensor. Otherwise it would share the version counter of its
  // neighbours, and autograd would mistake a change of a neighbour for a change of this entry.
  if (!own_.device) return view_of({dtype, entry.shape, entry.offset_bytes, host_});
  const auto offset = static_cast<std::int64_t>(entry.offset_bytes);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto bytes = static_cast<std::int64_t>(checked_bytes(dtype, entry.shape));
  if (dtype == dtype_) return flat_.narrow(0, offset / size, bytes / size).view(entry.shape);
  return flat_.narrow(0, offset, bytes).view(scalar_type_of(dtype)).view(entry.shape);
}

bool MirroredBlock::to_host(devices::Purpose purpose) const {
  if (!copy(host_view_, flat_)) return false;
  if (own_.link) own_.link->add_to_host(purpose, bytes());
  return true;
}

bool MirroredBlock::to_device(devices::Purpose purpose) const {
  if (!copy(flat_, host_view_)) return false;
  if (own_.link) own_.link->add_to_device(purpose, bytes());
  return true;
}

bool MirroredBlock::copy(const at::Tensor& to, const at::Tensor& from) const {
  if (!own_.device || empty()) return false;
  const at::NoGradGuard no_gradients;
  at::Tensor target = to;
  if (own_.copy) {
    own_.copy(target, from);
  } else {
    target.copy_(from);
  }
  return true;
}

}  // namespace trainyard
