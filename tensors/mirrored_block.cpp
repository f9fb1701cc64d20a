// SPDX-License-Identifier: Apache-2.0
#include "tensors/mirrored_block.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tensors/bridge.h"

namespace trainyard {
namespace {

/// How long copies may take. Work that was submitted before them counts, too. A run that makes no progress is ended
/// long before (`progress_timeout_s`).
constexpr std::chrono::hours kCopied{1};

/// What the tensor of a region keeps alive. The region is destroyed before its device.
struct RegionOwner {
  std::shared_ptr<devices::Device> device;
  devices::Region region;
};

/// Returns a tensor over the region, with the sizes and the type of `like`, for LibTorch's device `device`.
at::Tensor tensor_over(const devices::Region& region, const NativeDevice& native, const at::Tensor& like,
                       at::Device device) {
  auto owner = std::make_shared<RegionOwner>(RegionOwner{native.device, region});
  return at::for_blob(region.address(), like.sizes())
      .deleter([owner](void*) mutable { owner.reset(); })
      .options(like.options().device(device))
      .target_device(device)
      .make_tensor();
}

}  // namespace

MirroredBlock::MirroredBlock(Buffer host, DType dtype, const DeviceMemory& own, const std::string& what)
    : host_(std::move(host)), dtype_(dtype), host_view_(view_of(message())), flat_(host_view_), own_(own) {
  if (own_.native != nullptr) {
    // A block without bytes has an address, too.
    region_ = devices::Region(own_.native->device->allocate(std::max<std::size_t>(bytes(), 1), what), 0, bytes());
    flat_ = tensor_over(*region_, *own_.native, host_view_, *own_.device);
  } else if (own_.device) {
    flat_ = at::empty(host_view_.sizes(), host_view_.options().device(*own_.device)).zero_();
  }
}

MirroredBlock::MirroredBlock(Buffer host, DType dtype, const DeviceMemory& own, devices::Region region)
    : host_(std::move(host)),
      dtype_(dtype),
      host_view_(view_of(message())),
      flat_(tensor_over(region, *own.native, host_view_, *own.device)),
      region_(std::move(region)),
      own_(own) {}

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
  if (!is_mirrored() || empty()) return false;
  if (region_) {
    submit_to_host(*own_.native->stream, purpose);
    await_copies(*own_.native->stream);
    return true;
  }
  copy(host_view_, flat_);
  if (own_.link) own_.link->add_to_host(purpose, bytes());
  return true;
}

/// The stream of a device plugin carries out later computations after the copy. The host's side does not change before
/// the block has been copied back, because only the owner of the newer side copies it.
bool MirroredBlock::to_device(devices::Purpose purpose) const {
  if (!is_mirrored() || empty()) return false;
  if (region_) {
    own_.native->stream->to_device(*region_, devices::HostRegion(host_), purpose);
    return true;
  }
  copy(flat_, host_view_);
  if (own_.link) own_.link->add_to_device(purpose, bytes());
  return true;
}

void MirroredBlock::submit_to_host(devices::Stream& stream, devices::Purpose purpose) const {
  if (!empty()) stream.to_host(devices::HostRegion(host_), *region_, purpose);
}

void MirroredBlock::copy(const at::Tensor& to, const at::Tensor& from) const {
  const at::NoGradGuard no_gradients;
  at::Tensor target = to;
  if (own_.copy) {
    own_.copy(target, from);
  } else {
    target.copy_(from);
  }
}

void await_copies(devices::Stream& stream) { stream.drain(kCopied); }

}  // namespace trainyard
