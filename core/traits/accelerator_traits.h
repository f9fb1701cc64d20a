// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// The rules that an accelerator (the plugin for one kind of hardware) declares. The planner, which makes the plan of a
/// run from a launch file, refuses a run that breaks a rule before anything starts; the error names the rule. Only
/// `memory_limit_bytes` is checked later: the accelerator host (the component that computes on the device) checks it
/// when it has built the model.
struct AcceleratorTraits {
  static constexpr const char* kTypeName = "AcceleratorTraits";

  /// The numbers of devices that a run may use; if the list is empty, any number is allowed.
  std::vector<int> device_counts;
  /// The supported precisions, such as "32-true" or "bf16-mixed". All others are refused.
  std::vector<std::string> precisions;
  /// What `precision = "auto"` means: the fastest precision on this hardware in which a model learns as well as in
  /// "32-true".
  std::string auto_precision = "32-true";
  /// The reason for `auto_precision`, as a message for the user, such as "the processor has AMX for bfloat16".
  std::string auto_precision_reason;

  /// True if a step is compiled for the shapes of its batch. Each batch with new shapes then causes one more
  /// compilation, and a warning is logged.
  bool static_graph_only = false;

  bool gradient_clipping = true;  ///< True if gradients can be clipped before the optimizer uses them.

  /// True if kernels work on host memory. The arena, which holds the parameters and gradients, is then in host memory
  /// that other processes share. If this is false, the arena is in the memory of the device, and other processes use a
  /// copy of it in host memory.
  bool host_memory = true;

  /// The name of the device plugin with which other processes of the host can work on the memory of the device. Empty
  /// if they cannot, or if `host_memory` is true; an optimizer in another process then works in host memory.
  std::string shares_memory_by;

  /// True if a run may have more ranks than devices, in which case several ranks share a device. A list of devices in a
  /// launch file must still name each device only once.
  bool shared_devices = false;

  /// The maximum size of a rank's arena plus one batch, in bytes; 0 means no limit.
  std::uint64_t memory_limit_bytes = 0;
  /// The name of the hardware that these rules describe, such as "ipu", if the accelerator can use or simulate several
  /// kinds of hardware; otherwise empty.
  std::string rules;

  /// The priority of the accelerator for `accelerator = "auto"`, which chooses the available accelerator with the
  /// highest priority. An accelerator with the priority 0, such as one that only simulates hardware or needs
  /// parameters, is never chosen automatically. The accelerator `cpu` has the priority 1; accelerators with separate
  /// devices have higher priorities.
  int auto_priority = 50;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(device_counts), CEREAL_NVP(precisions), CEREAL_NVP(auto_precision),
            CEREAL_NVP(auto_precision_reason), CEREAL_NVP(static_graph_only), CEREAL_NVP(gradient_clipping),
            CEREAL_NVP(host_memory), CEREAL_NVP(shares_memory_by), CEREAL_NVP(shared_devices),
            CEREAL_NVP(memory_limit_bytes), CEREAL_NVP(rules), CEREAL_NVP(auto_priority));
  }
};

/// The report of an accelerator about this machine: the number of devices that it finds, and its rules.
struct AcceleratorReport {
  static constexpr const char* kTypeName = "AcceleratorReport";
  static constexpr const char* kPluginKind = "accelerator";

  int devices = 0;
  std::string problem;  ///< Why no device was found, as a message for the user; empty if there is no explanation.
  AcceleratorTraits traits;

  bool available() const { return devices > 0; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(devices), CEREAL_NVP(problem), CEREAL_NVP(traits));
  }
};

}  // namespace trainyard
