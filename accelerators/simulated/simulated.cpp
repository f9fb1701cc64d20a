#include "accelerators/simulated/simulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "tensors/version.h"

namespace trainyard {

Simulated::Simulated(AcceleratorContext& context) : Accelerator(context), rules_(simulated::rules_of(*kind_)) {
  AcceleratorTraits& traits = rules_.traits;
  if (given("device_counts")) {
    traits.device_counts.assign(device_counts_->begin(), device_counts_->end());
    // A rehearsal has as many devices as its rules allow.
    if (!traits.device_counts.empty()) rules_.devices = *std::ranges::max_element(traits.device_counts);
  }
  if (given("precisions")) traits.precisions = *precisions_;
  if (given("gradient_clipping")) traits.gradient_clipping = *gradient_clipping_;
  if (given("memory_limit_bytes")) traits.memory_limit_bytes = static_cast<std::uint64_t>(*memory_limit_bytes_);
  if (given("link_gb_per_s")) rules_.link_gb_per_s = *link_gb_per_s_;
  if (given("step_latency_us")) rules_.step_latency_us = *step_latency_us_;
  // Whatever the rules say, this processor has to compute it.
  if (!kHalfOnCpu) std::erase(traits.precisions, "16-true");
}

/// A default that is written down counts as given: it may lift a rule of the kind.
bool Simulated::given(const std::string& parameter) const {
  return !describing() && nlohmann::json::parse(context().parameters).contains(parameter);
}

/// One, unless more are asked for: all of them would be the processor.
std::vector<int> Simulated::parse_devices(const std::string& request) const {
  if (request == "auto") return {0};
  return Accelerator::parse_devices(request);
}

std::string Simulated::device_name(int index) const { return fmt::format("{}:{} (simulated)", *kind_, index); }

std::vector<at::Tensor> Simulated::to_device(std::vector<at::Tensor> tensors) const {
  std::size_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += tensor.nbytes();
  if (rules_.traits.static_graph_only) watch_shapes(tensors);
  wait(bytes, rules_.step_latency_us);
  return tensors;
}

void Simulated::copy_block(at::Tensor to, const at::Tensor& from) const {
  to.copy_(from);
  wait(from.nbytes(), 0);
}

/// The time is a formula of the bytes, so that two rehearsals are alike.
void Simulated::wait(std::size_t bytes, double latency_us) const {
  const double link_seconds = rules_.link_gb_per_s > 0 ? static_cast<double>(bytes) / (rules_.link_gb_per_s * 1e9) : 0;
  const double seconds = link_seconds + latency_us * 1e-6;
  link_bytes_ += static_cast<double>(bytes);
  waited_seconds_ += seconds;
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// A graph belongs to the shapes of its inputs. The last, smaller batch of an epoch is the usual surprise.
void Simulated::watch_shapes(const std::vector<at::Tensor>& tensors) const {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const at::Tensor& tensor : tensors) shapes.push_back(tensor.sizes().vec());
  if (!shapes_.insert(shapes).second || shapes_.size() == 1) return;
  context().log->warn(
      "{}: rule static_graph_only: a batch of another shape came, number {}; the device would compile "
      "its graph anew (drop_last in the data loader keeps batches alike)",
      where(), shapes_.size());
}

std::map<std::string, double> Simulated::stats() const {
  return {{"link_bytes", link_bytes_}, {"waited_seconds", waited_seconds_}};
}

}  // namespace trainyard

TRAINYARD_ACCELERATOR(
    trainyard::Simulated, "simulated",
    "The processor under the published rules of hardware that is not here: ipu, tpu, hpu or your own.")
