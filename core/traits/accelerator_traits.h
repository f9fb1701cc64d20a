// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// The published rules of one kind of hardware. A plan that breaks a rule is refused before anything starts, and the
/// refusal names the rule.
struct AcceleratorTraits {
  static constexpr const char* kTypeName = "AcceleratorTraits";

  std::vector<int> device_counts;       ///< The numbers of devices that are allowed; empty means any number.
  std::vector<std::string> precisions;  ///< The precisions that are supported: "32-true", "64-true", "bf16-mixed", ...

  /// True if steps are compiled for the shapes of their batch. The first batch of each further shape causes a new
  /// compilation, and a warning reports it.
  bool static_graph_only = false;

  bool gradient_clipping = true;  ///< True if gradients may be clipped between backward pass and optimizer.

  /// True if kernels work on host memory, so that the arena is shared with other processes directly. If it is false,
  /// the arena is stored in the memory of the device, and the other processes use a mirror of it in host memory.
  bool host_memory = true;

  /// True if there may be more ranks than devices; several ranks then share a device. A list of devices must still name
  /// each device only once.
  bool shared_devices = false;

  std::uint64_t memory_limit_bytes = 0;  ///< The arena and one batch must fit into this; 0 means no limit.
  /// The hardware to which these rules belong, if it is not the accelerator's own, such as "ipu".
  std::string rules;

  /// The order in which accelerator = "auto" prefers the accelerators that are available: the highest wins. An
  /// accelerator with 0 is never chosen automatically, because it only simulates hardware or needs parameters. The
  /// processor has 1, real devices have more.
  int auto_rank = 50;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(device_counts), CEREAL_NVP(precisions), CEREAL_NVP(static_graph_only),
            CEREAL_NVP(gradient_clipping), CEREAL_NVP(host_memory), CEREAL_NVP(shared_devices),
            CEREAL_NVP(memory_limit_bytes), CEREAL_NVP(rules), CEREAL_NVP(auto_rank));
  }
};

/// What an accelerator says about itself on this machine: the devices that it finds, and its rules.
struct AcceleratorReport {
  static constexpr const char* kTypeName = "AcceleratorReport";
  static constexpr const char* kPluginKind = "accelerator";

  int devices = 0;
  std::string problem;  ///< The human-readable reason why there is no device. It may be empty if there simply is none.
  AcceleratorTraits traits;

  bool available() const { return devices > 0; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(devices), CEREAL_NVP(problem), CEREAL_NVP(traits));
  }
};

}  // namespace trainyard
