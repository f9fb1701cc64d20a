// SPDX-License-Identifier: Apache-2.0
#include "xpu.h"

#include <fmt/format.h>

#include "backend.h"
#include "device_memory.h"

namespace xpu {

trainyard::FoundDevices Xpu::find_devices() const { return {.count = kDevices, .problem = ""}; }

trainyard::AcceleratorTraits Xpu::traits() const {
  return {.precisions = {"32-true"}, .host_memory = false, .memory_limit_bytes = DeviceMemory::kBytes};
}

std::unique_ptr<trainyard::ClaimedDevice> Xpu::open(int index) const { return std::make_unique<Card>(*this, index); }

Card::Card(const Xpu& xpu, int index)
    : ClaimedDevice(xpu, at::Device(at::kPrivateUse1, static_cast<c10::DeviceIndex>(index)),
                    fmt::format("xpu:{}", index)) {}

bool Card::has(const at::Tensor& tensor) const { return memory_of(torch_device().index()).contains(tensor.data_ptr()); }

std::vector<at::Tensor> Card::move_batch(std::vector<at::Tensor> tensors) {
  tensors = trainyard::accelerators::copies_on(torch_device(), std::move(tensors));
  for (const at::Tensor& tensor : tensors) batch_tensors_ += has(tensor);
  return tensors;
}

void Card::copy_block(at::Tensor to, const at::Tensor& from) {
  blocks_in_ += has(to);
  blocks_out_ += has(from);
  to.copy_(from);
}

std::map<std::string, double> Card::stats() const {
  const DeviceMemory::Use use = memory_of(torch_device().index()).use();
  const Counters done = counters();
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  return {{"memory_bytes", number(use.bytes)},       {"peak_memory_bytes", number(use.peak_bytes)},
          {"allocations", number(use.allocations)},  {"kernels", number(done.kernels)},
          {"bytes_in", number(done.bytes_in)},       {"bytes_out", number(done.bytes_out)},
          {"batch_tensors", number(batch_tensors_)}, {"blocks_in", number(blocks_in_)},
          {"blocks_out", number(blocks_out_)}};
}

Card::~Card() {
  std::string line = fmt::format("{}:", name());
  for (const auto& [what, value] : stats()) line += fmt::format(" {} {}", what, static_cast<std::uint64_t>(value));
  context().log->info("{}", line);
}

}  // namespace xpu

TRAINYARD_ACCELERATOR(xpu::Xpu, "xpu", "An imaginary card with memory of its own; an example.")
