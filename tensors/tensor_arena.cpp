// SPDX-License-Identifier: Apache-2.0
#include "tensors/tensor_arena.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>
#include <utility>

#include "messages/error.h"
#include "tensors/bridge.h"

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

/// Returns the stream on which this thread computes, if the device has streams.
std::optional<c10::Stream> stream_of(at::Device device) {
  if (device.is_cpu()) return {};
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace

TensorArena::TensorArena(DeviceMemory own, at::Tensor parameters, at::Tensor gradients)
    : own_(std::move(own)),
      parameters_(std::move(parameters)),
      gradients_(std::move(gradients)),
      stream_(stream_of(parameters_.device())) {}

std::string TensorArena::device() const { return parameters_.device().str(); }

std::unique_ptr<devices::Update> TensorArena::make_update(const devices::UpdateRequest& request) {
  const at::NoGradGuard no_gradients;
  const StreamScope scope(stream_);
  devices::check(request, dtype_of(parameters_.scalar_type()), static_cast<std::uint64_t>(parameters_.numel()));
  std::vector<at::Tensor> state;
  for (const Tensor& block : request.state) {
    state_.emplace_back(block.buffer, block.dtype, own_);
    state.push_back(state_.back().flat().narrow(0, 0, parameters_.numel()));
  }
  state_to_device();
  updated_here_ = true;
  return std::make_unique<UpdateOnStream>(stream_,
                                          make_tensor_update(request, {parameters_, gradients_, std::move(state)}));
}

void TensorArena::state_to_host() const {
  for (const MirroredBlock& block : state_) block.to_host(devices::Purpose::kSnapshot);
}

void TensorArena::state_to_device() const {
  for (const MirroredBlock& block : state_) block.to_device(devices::Purpose::kState);
}

}  // namespace trainyard
