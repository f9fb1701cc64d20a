// SPDX-License-Identifier: Apache-2.0
#include "devices/opened_arena.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "messages/error.h"

namespace trainyard::devices {
namespace {

/// How long the first copy of the optimizer's state may take.
constexpr std::chrono::seconds kCopied{60};

/// Submits an update to a stream of this process, behind the signal that the gradients are complete, and announces its
/// end. The n-th update belongs to the value n of both fences.
class OrderedUpdate final : public Update {
 public:
  OrderedUpdate(Stream& stream, std::shared_ptr<Fence> gradients_ready, std::shared_ptr<Fence> parameters_ready,
                std::unique_ptr<Update> update)
      : stream_(stream),
        gradients_ready_(std::move(gradients_ready)),
        parameters_ready_(std::move(parameters_ready)),
        update_(std::move(update)) {}

  void run(std::span<const Coefficients<double>> coefficients) override {
    ++updates_;
    stream_.wait(gradients_ready_, updates_);
    update_->run(coefficients);
    stream_.signal(parameters_ready_, updates_);
  }

 private:
  Stream& stream_;
  std::shared_ptr<Fence> gradients_ready_;
  std::shared_ptr<Fence> parameters_ready_;
  std::unique_ptr<Update> update_;
  std::uint64_t updates_ = 0;
};

}  // namespace

OpenedArena::OpenedArena(std::unique_ptr<Driver> driver, const SharedArena& shared)
    : driver_(std::move(driver)),
      device_(driver_->open(shared.parameters.device.uuid)),
      stream_(device_->make_stream("optimizer")),
      dtype_(static_cast<DType>(shared.dtype)),
      parameters_(device_->open_block(shared.parameters)),
      gradients_(device_->open_block(shared.gradients)),
      gradients_ready_(device_->open_fence(shared.gradients_ready)),
      parameters_ready_(device_->open_fence(shared.parameters_ready)) {
  const std::size_t size = size_of(dtype_);
  if (size != 0 && parameters_.bytes() % size == 0 && parameters_.bytes() == gradients_.bytes()) return;
  throw Error(Code::kCorrupt,
              "the arena in the memory of {} has {} bytes of parameters and {} bytes of gradients of the type {}; both "
              "must have the same number of whole elements",
              device(), parameters_.bytes(), gradients_.bytes(), name_of(dtype_));
}

OpenedArena::~OpenedArena() = default;

std::string OpenedArena::device() const { return fmt::format("{} {}", device_->id().kind, device_->id().uuid); }

std::unique_ptr<Update> OpenedArena::make_update(const UpdateRequest& request) {
  check(request, dtype_, parameters_.bytes() / size_of(dtype_));
  state_.clear();
  for (const Tensor& block : request.state) {
    state_.emplace_back(device_->allocate(block.bytes(), fmt::format("optimizer state {}", state_.size())));
    stream_->to_device(state_.back(), HostRegion(block.buffer, 0, block.bytes()), Purpose::kState);
  }
  // The accelerator host may copy other values there as soon as it knows the blocks.
  stream_->drain(kCopied);
  return std::make_unique<OrderedUpdate>(
      *stream_, gradients_ready_, parameters_ready_,
      device_->make_update(*stream_, request, {dtype_, parameters_, gradients_, state_}));
}

std::vector<BlockHandle> OpenedArena::state_handles() const {
  std::vector<BlockHandle> handles;
  for (const Region& block : state_) handles.push_back(device_->export_block(block));
  return handles;
}

}  // namespace trainyard::devices
