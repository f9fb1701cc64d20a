// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// What the planner must know about a component before anything is started.
struct ComponentTraits {
  static constexpr const char* kTypeName = "ComponentTraits";
  static constexpr const char* kPluginKind = "component";

  /// True if a run has one such component for every rank. With several ranks, each of them is in the namespace "rankN",
  /// where N is its rank.
  bool per_rank = false;

  /// The event loop that runs the component in a composed run. Components with the same name here share one loop.
  std::string thread = "main";

  /// False if a run cannot continue with a new instance of this component, because other components rely on what the
  /// old instance held. The planner then refuses `respawn` for it.
  bool restartable = true;

  /// True if its parameters must be checked together (Configurable::check_parameters) before a plan is accepted.
  bool checks_parameters = false;

  /// The memory in bytes that a process needs at least to host one of these components, apart from the model and the
  /// data. The planner adds these numbers up and refuses a run that the machine cannot hold.
  std::uint64_t memory_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(per_rank), CEREAL_NVP(thread), CEREAL_NVP(restartable), CEREAL_NVP(checks_parameters),
            CEREAL_NVP(memory_bytes));
  }
};

}  // namespace trainyard
