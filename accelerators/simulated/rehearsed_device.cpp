// SPDX-License-Identifier: Apache-2.0
#include "accelerators/simulated/rehearsed_device.h"

#include <chrono>
#include <thread>

namespace trainyard::simulated {

RehearsedDevice::RehearsedDevice(const Accelerator& accelerator, std::string name, const Rules& rules)
    : ClaimedDevice(accelerator, at::Device(at::kCPU), std::move(name)),
      link_gb_per_s_(rules.link_gb_per_s),
      step_latency_us_(rules.step_latency_us) {}

std::vector<at::Tensor> RehearsedDevice::move_batch(std::vector<at::Tensor> tensors) {
  std::size_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += tensor.nbytes();
  wait(bytes, step_latency_us_);
  return tensors;
}

void RehearsedDevice::copy_block(at::Tensor to, const at::Tensor& from) {
  to.copy_(from);
  wait(from.nbytes(), 0);
}

/// Waits for the time that a transfer of `bytes` bytes would take, plus the latency. The time depends only on the
/// arguments, so it is the same in every run.
void RehearsedDevice::wait(std::size_t bytes, double latency_us) {
  const double link_seconds = link_gb_per_s_ > 0 ? static_cast<double>(bytes) / (link_gb_per_s_ * 1e9) : 0;
  const double seconds = link_seconds + latency_us * 1e-6;
  link_bytes_ += static_cast<double>(bytes);
  waited_seconds_ += seconds;
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::map<std::string, double> RehearsedDevice::stats() const {
  return {{"link_bytes", link_bytes_}, {"waited_seconds", waited_seconds_}};
}

}  // namespace trainyard::simulated
