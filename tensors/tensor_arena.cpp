// SPDX-License-Identifier: Apache-2.0
#include "tensors/tensor_arena.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "messages/error.h"
#include "tensors/bridge.h"
#include "tensors/tensor_update.h"

namespace trainyard {
namespace {

/// Makes the stream the current one of the calling thread, if there is a stream.
class StreamScope {
 public:
  explicit StreamScope(const std::optional<c10::Stream>& stream) {
    if (stream) guard_.emplace(*stream);
  }

 private:
  std::optional<c10::StreamGuard> guard_;
};

/// Submits an update to the stream on which the accelerator host computes, whichever thread calls it. So the update
/// comes after the backward pass that was submitted before it, and before the next forward pass.
class UpdateOnStream final : public devices::Update {
 public:
  UpdateOnStream(std::optional<c10::Stream> stream, std::unique_ptr<devices::Update> update)
      : stream_(stream), update_(std::move(update)) {}

  void run(std::span<const devices::Coefficients<double>> coefficients) override {
    const StreamScope scope(stream_);
    update_->run(coefficients);
  }

 private:
  std::optional<c10::Stream> stream_;
  std::unique_ptr<devices::Update> update_;
};

/// An update of a device plugin. Its stream, which it gets here, is the one on which the accelerator host computes.
class NativeUpdate final : public devices::Update {
 public:
  NativeUpdate(NativeDevice native, const devices::UpdateRequest& request, devices::UpdateRegions regions)
      : native_(std::move(native)),
        update_(native_.device->make_update(*native_.stream, request, std::move(regions))) {}

  void run(std::span<const devices::Coefficients<double>> coefficients) override { update_->run(coefficients); }

 private:
  NativeDevice native_;  ///< Keeps the device, because the optimizer may be destroyed after the accelerator host.
  std::unique_ptr<devices::Update> update_;
};

/// Returns the stream on which this thread computes, if the device has streams.
std::optional<c10::Stream> stream_of(at::Device device) {
  if (device.is_cpu()) return {};
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace

TensorArena::TensorArena(DeviceMemory own, at::Tensor parameters, at::Tensor gradients,
                         std::optional<devices::UpdateRegions> regions)
    : own_(std::move(own)),
      parameters_(std::move(parameters)),
      gradients_(std::move(gradients)),
      regions_(std::move(regions)),
      stream_(stream_of(parameters_.device())) {}

std::string TensorArena::device() const { return own_.name.empty() ? parameters_.device().str() : own_.name; }

std::unique_ptr<devices::Update> TensorArena::make_update(const devices::UpdateRequest& request) {
  const at::NoGradGuard no_gradients;
  const StreamScope scope(stream_);
  devices::check(request, dtype_of(parameters_.scalar_type()), static_cast<std::uint64_t>(parameters_.numel()));
  for (const Tensor& block : request.state) {
    state_.emplace_back(block.buffer, block.dtype, own_, fmt::format("optimizer state {}", state_.size()));
  }
  state_to_device();
  updated_on_device_ = true;
  if (regions_) return make_native_update(request);
  std::vector<at::Tensor> state;
  for (const MirroredBlock& block : state_) state.push_back(block.flat().narrow(0, 0, parameters_.numel()));
  return std::make_unique<UpdateOnStream>(stream_,
                                          make_tensor_update(request, {parameters_, gradients_, std::move(state)}));
}

std::unique_ptr<devices::Update> TensorArena::make_native_update(const devices::UpdateRequest& request) {
  devices::UpdateRegions regions = *regions_;
  for (const MirroredBlock& block : state_) regions.state.push_back(*block.region());
  return std::make_unique<NativeUpdate>(*own_.native, request, std::move(regions));
}

SharedArena TensorArena::share() {
  if (!regions_) throw Error(Code::kUnsupported, "{} has no device plugin that could share its memory", device());
  if (!fences_) fences_.emplace(*own_.native);
  devices::Device& device = *own_.native->device;
  return {.dtype = static_cast<std::uint8_t>(regions_->dtype),
          .parameters = device.export_block(regions_->parameters),
          .gradients = device.export_block(regions_->gradients),
          .gradients_ready = fences_->gradients_ready(),
          .parameters_ready = fences_->parameters_ready()};
}

void TensorArena::adopt(const OptimizerState& state) {
  if (!fences_) throw Error(Code::kInternal, "an optimizer works on {}, which was not shared", device());
  if (state.device_blocks.size() != state.blocks.size()) {
    throw Error(Code::kShapeMismatch,
                "the optimizer of rank {} has {} blocks of state on the device and {} in host memory", state.rank,
                state.device_blocks.size(), state.blocks.size());
  }
  for (std::size_t i = 0; i < state.blocks.size(); ++i) {
    const Tensor& host = state.blocks[i].data;
    devices::Region region(own_.native->device->open_block(state.device_blocks[i]));
    if (host.offset != 0 || host.buffer.size() != region.bytes()) {
      throw Error(Code::kShapeMismatch,
                  "the block '{}' of optimizer state has {} bytes on the device and {} in host memory",
                  state.blocks[i].name, region.bytes(), host.buffer.size());
    }
    state_.emplace_back(host.buffer, host.dtype, own_, std::move(region));
  }
  updated_on_device_ = updated_elsewhere_ = true;
}

void TensorArena::begin_update() {
  if (updated_elsewhere_) fences_->begin_update();
}

void TensorArena::end_update() {
  if (updated_elsewhere_) fences_->end_update();
}

void TensorArena::state_to_host() const {
  for (const MirroredBlock& block : state_) block.to_host(devices::Purpose::kSnapshot);
}

/// This function, unlike make_update(), runs on the thread of the accelerator host.
void TensorArena::restore_state() {
  if (own_.prepare && !std::exchange(prepared_, true)) {
    for (const MirroredBlock& block : state_) own_.prepare(block.host());
  }
  state_to_device();
}

void TensorArena::state_to_device() const {
  for (const MirroredBlock& block : state_) block.to_device(devices::Purpose::kState);
}

}  // namespace trainyard
