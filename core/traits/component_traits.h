// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// The properties of a component that must be known before anything is started. They are used by the planner, which
/// makes the plan of a run from a launch file.
struct ComponentTraits {
  static constexpr const char* kTypeName = "ComponentTraits";
  static constexpr const char* kPluginKind = "component";

  /// True if a run has one such component for every rank. With several ranks, the component of rank N is in the
  /// namespace "rankN".
  bool per_rank = false;

  /// The name of the event loop on which the component runs by default. Components of one process with the same
  /// `thread` share one event loop. This matters most with `placement = "composed"`, where all components are in one
  /// process.
  std::string thread = "main";

  /// False if a run cannot continue with a new instance of this component, because other components rely on the state
  /// of the old instance. The planner then refuses a launch file that asks to restart the component's process after a
  /// failure (`respawn`).
  bool restartable = true;

  /// True if the planner must call Configurable::check_parameters, which checks the parameters together, before it
  /// accepts a plan.
  bool checks_parameters = false;

  /// The minimum memory, in bytes, that a process needs to host components of this class, apart from the model and the
  /// data. The number counts once per process, even if the process hosts several such components. The planner adds the
  /// numbers up and refuses a run that needs more memory than the machine has.
  std::uint64_t memory_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(per_rank), CEREAL_NVP(thread), CEREAL_NVP(restartable), CEREAL_NVP(checks_parameters),
            CEREAL_NVP(memory_bytes));
  }
};

}  // namespace trainyard
