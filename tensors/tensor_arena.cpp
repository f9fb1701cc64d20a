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
  const DType state_type = dtype_of(update_state_type(parameters_.scalar_type()));
  const auto elements = static_cast<std::uint64_t>(parameters_.numel());
  for (const devices::UpdateRange& range : request.ranges) {
    if (range.begin <= elements && range.count <= elements - range.begin) continue;
    throw Error(Code::kShapeMismatch,
                "an update of {} elements from element {} on is beyond the {} elements of the rank", range.count,
                range.begin, elements);
  }
  const std::size_t states = devices::states_of(request.formula);
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
  UpdateBlocks blocks{parameters_, gradients_, std::move(state)};
  auto update =
      own_.make_update ? own_.make_update(request, std::move(blocks)) : make_tensor_update(request, std::move(blocks));
  return std::make_unique<UpdateOnStream>(stream_, std::move(update));
}

void TensorArena::state_to_host() const {
  for (const MirroredBlock& block : state_) block.to_host(devices::Purpose::kSnapshot);
}

void TensorArena::state_to_device() const {
  for (const MirroredBlock& block : state_) block.to_device(devices::Purpose::kState);
}

}  // namespace trainyard
