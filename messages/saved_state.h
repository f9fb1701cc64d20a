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

/// What one part of a run needs in order to continue when the run is resumed. Examples are the best value of early
/// stopping, the momentum of a strategy, and the random numbers of a rank. The parameters and buffers of the model and
/// the blocks of the optimizer are saved separately.
///
/// Use StateWriter and StateReader (core/state/state.h) to fill and read a SavedState.
struct SavedState {
  static constexpr const char* kTypeName = "SavedState";

  /// The owner of the state: "random_numbers", "strategy/diloco", or the name of a component. An owner can have one
  /// state that is the same on all ranks and, in addition, another state on each rank.
  std::string owner;
  std::uint32_t rank = 0;
  /// True if every rank has its own state. Otherwise the state is the same on all ranks: only the state of rank 0 is
  /// saved, and every rank of a resumed run receives it.
  bool per_rank = false;
  std::string values;  ///< The text of a JSON object; an empty string if there are only tensors.
  std::vector<StateTensor> tensors;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(owner), CEREAL_NVP(rank), CEREAL_NVP(per_rank), CEREAL_NVP(values), CEREAL_NVP(tensors));
  }
};

/// The checkpoint writer's request for the state of every component that saves state. The checkpoint writer sends this
/// request after it has received Snapshot from every rank and before it answers with SnapshotTaken.
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

  std::uint64_t order = 0;  ///< The id of the checkpoint order, as in the request.
  std::string component;    ///< The full name of the component, such as "rank0/sampler".
  std::vector<SavedState> states;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(component), CEREAL_NVP(states));
  }
};

/// The message with all SavedStates of the checkpoint from which the run resumes. The checkpoint writer sends this
/// message to every component that has state, and sends RunState only when all these components have answered. In a run
/// that does not resume, this message is not sent.
struct RestoredStates {
  static constexpr const char* kTypeName = "RestoredStates";

  std::string path;         ///< The path of the checkpoint.
  std::uint64_t step = 0;   ///< The step of the checkpoint.
  std::uint32_t ranks = 0;  ///< The number of ranks when the checkpoint was made; 0 if this is not recorded.
  std::vector<SavedState> states;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(path), CEREAL_NVP(step), CEREAL_NVP(ranks), CEREAL_NVP(states));
  }
};

/// A component's answer to RestoredStates: the component has taken the state that belongs to it.
struct StatesTaken {
  static constexpr const char* kTypeName = "StatesTaken";

  std::string component;            ///< The full name of the component.
  std::vector<std::string> owners;  ///< The owners whose state the component has taken.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(owners));
  }
};

}  // namespace trainyard
