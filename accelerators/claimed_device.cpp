// SPDX-License-Identifier: Apache-2.0
#include "accelerators/claimed_device.h"

#include <ATen/CPUGeneratorImpl.h>

#include "accelerators/accelerator.h"
#include "accelerators/generator.h"
#include "core/memory/shared_pool.h"

namespace trainyard {

ClaimedDevice::ClaimedDevice(const Accelerator& accelerator, at::Device device, std::string name)
    : accelerator_(accelerator),
      device_(device),
      name_(name.empty() ? device.str() : std::move(name)),
      static_graph_only_(accelerator.traits().static_graph_only) {
  if (!accelerator.traits().host_memory) link_bytes_ = std::make_shared<devices::LinkBytes>();
}

const PluginContext& ClaimedDevice::context() const { return accelerator_.context(); }

std::vector<at::Tensor> ClaimedDevice::to_device(std::vector<at::Tensor> tensors) {
  if (static_graph_only_) warn_of_new_shapes(tensors);
  if (const auto link = link_bytes()) count_batch(tensors, *link);
  return move_batch(std::move(tensors));
}

/// Counts the bytes of the tensors that are about to be copied to the device. If the processor simulates a device with
/// separate memory, every tensor counts.
void ClaimedDevice::count_batch(const std::vector<at::Tensor>& tensors, devices::LinkBytes& link) const {
  std::uint64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    if (device_.is_cpu() || tensor.device().type() != device_.type()) bytes += tensor.nbytes();
  }
  link.add_to_device(devices::Purpose::kBatch, bytes);
}

std::shared_ptr<devices::LinkBytes> ClaimedDevice::link_bytes() const {
  const NativeDevice* own = native();
  if (own == nullptr) return link_bytes_;
  return {own->device, &own->device->link_bytes()};
}

/// Logs a warning if the shapes are new, because a compiled graph is valid only for the shapes for which it was
/// compiled. The usual cause of a new shape is the last, smaller batch of an epoch.
void ClaimedDevice::warn_of_new_shapes(const std::vector<at::Tensor>& tensors) {
  Shapes shapes;
  for (const at::Tensor& tensor : tensors) shapes.push_back(tensor.sizes().vec());
  if (!shapes_.insert(shapes).second || shapes_.size() == 1) return;
  context().log->warn(
      "{}: rule static_graph_only: a batch of another shape came, number {}; the device would compile "
      "its graph anew (drop_last in the data loader keeps batches alike)",
      accelerator_.where(), shapes_.size());
}

std::vector<at::Tensor> ClaimedDevice::move_batch(std::vector<at::Tensor> tensors) {
  return accelerators::copies_on(device_, std::move(tensors));
}

Buffer ClaimedDevice::allocate_host_block(std::size_t bytes) {
  Buffer block = context().pool->allocate_permanent(bytes);
  prepare_host_block(block);
  return block;
}

std::vector<at::Generator> ClaimedDevice::generators() const { return {at::detail::getDefaultCPUGenerator()}; }

void ClaimedDevice::seed(std::uint64_t seed) {
  for (const at::Generator& generator : generators()) accelerators::seed_generator(generator, seed);
}

std::vector<std::uint8_t> ClaimedDevice::rng_state() const { return accelerators::state_of_generators(generators()); }

void ClaimedDevice::set_rng_state(const std::vector<std::uint8_t>& state) {
  accelerators::restore_generators(generators(), state, accelerator_.where());
}

namespace accelerators {

/// The function waits for the copies, because the data loader may overwrite the sources as soon as the step is done,
/// even if the device has not read them yet.
std::vector<at::Tensor> copies_on(at::Device device, std::vector<at::Tensor> tensors) {
  for (at::Tensor& tensor : tensors) {
    const bool there = device.is_cpu() ? tensor.device().is_cpu() : tensor.device() == device;
    if (!there) tensor = tensor.to(device, /*non_blocking=*/false);
  }
  return tensors;
}

}  // namespace accelerators
}  // namespace trainyard
