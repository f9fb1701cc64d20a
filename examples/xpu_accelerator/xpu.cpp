#include "xpu.h"

#include <fmt/format.h>

#include "backend.h"
#include "device_memory.h"

namespace xpu {

/// One card unless more are asked for: ranks cost memory.
std::vector<int> Xpu::parse_devices(const std::string& request) const {
  if (request == "auto") return {0};
  return Accelerator::parse_devices(request);
}

int Xpu::device_count() const { return kDevices; }

trainyard::AcceleratorTraits Xpu::traits() const {
  return {.precisions = {"32-true"}, .host_memory = false, .memory_limit_bytes = DeviceMemory::kBytes};
}

at::Device Xpu::device(int index) const { return {at::kPrivateUse1, static_cast<c10::DeviceIndex>(index)}; }

std::string Xpu::device_name(int index) const { return fmt::format("xpu:{}", index); }

void Xpu::set_up(int index) { index_ = index; }

std::vector<at::Tensor> Xpu::to_device(std::vector<at::Tensor> tensors) const {
  tensors = Accelerator::to_device(std::move(tensors));
  for (const at::Tensor& tensor : tensors) batch_tensors_ += memory_of(index_).contains(tensor.data_ptr());
  return tensors;
}

void Xpu::copy_block(at::Tensor to, const at::Tensor& from) const {
  blocks_in_ += memory_of(index_).contains(to.data_ptr());
  blocks_out_ += memory_of(index_).contains(from.data_ptr());
  Accelerator::copy_block(to, from);
}

std::map<std::string, double> Xpu::stats() const {
  const DeviceMemory::Use use = memory_of(index_).use();
  const Counters done = counters();
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  return {{"memory_bytes", number(use.bytes)},       {"peak_memory_bytes", number(use.peak_bytes)},
          {"allocations", number(use.allocations)},  {"kernels", number(done.kernels)},
          {"bytes_in", number(done.bytes_in)},       {"bytes_out", number(done.bytes_out)},
          {"batch_tensors", number(batch_tensors_)}, {"blocks_in", number(blocks_in_)},
          {"blocks_out", number(blocks_out_)}};
}

void Xpu::tear_down() {
  std::string line = fmt::format("{}:", device_name(index_));
  for (const auto& [name, value] : stats()) line += fmt::format(" {} {}", name, static_cast<std::uint64_t>(value));
  context().log->info("{}", line);
}

}  // namespace xpu

TRAINYARD_ACCELERATOR(xpu::Xpu, "xpu", "An imaginary card with memory of its own; an example.")
