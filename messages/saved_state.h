// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// A named tensor of a SavedState.
struct StateTensor {
  static constexpr const char* kTypeName = "StateTensor";

  std::string name;  ///< For example "velocity".
  Tensor data;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(data));
  }
};

/// What one part of a run needs in order to continue after a resume, besides the arena and the optimizer's blocks: the
/// best value of early stopping, the momentum of a strategy, the random numbers of a rank.
///
/// It is filled and read through StateWriter and StateReader (core/state/state.h).
struct SavedState {
  static constexpr const char* kTypeName = "SavedState";

  /// The owner of the state: "random_numbers", "strategy/diloco", or the name of a component. An owner may have one
  /// state that is the same on all ranks and one that belongs to each rank.
  std::string owner;
  std::uint32_t rank = 0;
  /// True if every rank has a state of its own. Otherwise the state is the same on all ranks, and that of rank 0 is
  /// saved and given to every rank.
  bool per_rank = false;
  std::string values;  ///< A JSON object; empty if there are only tensors.
  std::vector<StateTensor> tensors;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(owner), CEREAL_NVP(rank), CEREAL_NVP(per_rank), CEREAL_NVP(values), CEREAL_NVP(tensors));
  }
};

/// Asks every component that saves state for it. The checkpoint writer sends this message when it has the snapshots of
/// all ranks, before it answers them.
struct StateRequest {
  static constexpr const char* kTypeName = "StateRequest";

  std::uint64_t order = 0;  ///< The id of the checkpoint order.
  std::uint64_t step = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step));
  }
};

/// A component's answer to a StateRequest.
struct StateAnswer {
  static constexpr const char* kTypeName = "StateAnswer";

  std::uint64_t order = 0;  ///< The order of the request.
  std::string component;    ///< The full name of the component, such as "rank0/sampler".
  std::vector<SavedState> states;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(component), CEREAL_NVP(states));
  }
};

/// All state of the checkpoint that the run resumes. The checkpoint writer sends it to every component that has state,
/// and sends RunState only when all of them have answered. A run that does not resume has no such message.
struct RestoredStates {
  static constexpr const char* kTypeName = "RestoredStates";

  std::string path;         ///< The path of the checkpoint.
  std::uint64_t step = 0;   ///< The step at which it was taken.
  std::uint32_t ranks = 0;  ///< The number of ranks that made it; 0 if the checkpoint does not record it.
  std::vector<SavedState> states;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(path), CEREAL_NVP(step), CEREAL_NVP(ranks), CEREAL_NVP(states));
  }
};

/// Tells the checkpoint writer that a component has taken its part of RestoredStates.
struct StatesTaken {
  static constexpr const char* kTypeName = "StatesTaken";

  std::string component;            ///< The full name of the component.
  std::vector<std::string> owners;  ///< The owners whose state it has taken.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(owners));
  }
};

}  // namespace trainyard
