#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// The published rules of one kind of hardware. A plan that breaks a rule is refused before anything starts, and the
/// refusal names the rule.
struct AcceleratorTraits {
  std::vector<int> device_counts;       ///< The numbers of devices that are allowed; empty means any number.
  std::vector<std::string> precisions;  ///< The precisions that are supported: "32-true", "64-true", "bf16-mixed", ...

  /// The step is compiled for the shapes of its first batch. A batch of another shape is compiled anew, and a warning
  /// says so.
  bool static_graph_only = false;

  bool gradient_clipping = true;  ///< Gradients may be clipped between the backward pass and the optimizer's step.

  /// Kernels work on host memory, so the arena is shared with other processes as it is. If this is false, the arena
  /// lies in the memory of the device, and the other processes see a mirror of it in host memory.
  bool host_memory = true;

  /// There may be more ranks than devices; the ranks then share the devices in turn. A list of devices still names each
  /// device once.
  bool shared_devices = false;

  std::uint64_t memory_limit_bytes = 0;  ///< The arena and one batch must fit into this; 0 means no limit.
  std::string rules;                     ///< Whose rules these are, if they are not the accelerator's own: "ipu".

  /// The order in which accelerator = "auto" prefers the accelerators that are available: the highest wins. An
  /// accelerator with 0 is never chosen by itself, because it only rehearses or must be told what it stands for. The
  /// processor has 1, real devices have more.
  int auto_rank = 50;
};

}  // namespace trainyard
