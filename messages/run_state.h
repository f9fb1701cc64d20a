#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/batch.h"
#include "messages/scalar.h"

namespace trainyard {

/// Asks the checkpoint writer to copy the arena now, between two steps. The writer makes the copy when every rank has
/// asked.
///
/// The accelerator host sends this message and then no further Gradients until SnapshotTaken has come back, so the
/// optimizer cannot touch the memory meanwhile. The host may compute the next gradients in the meantime, since they are
/// not part of a checkpoint, unless a forward pass would change buffers, which are.
struct Snapshot {
  static constexpr const char* kTypeName = "Snapshot";

  std::uint32_t rank = 0;
  /// The id of the checkpoint order. SnapshotTaken and CheckpointDone repeat it.
  std::uint64_t order = 0;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;
  std::string reason;
  /// Where a resumed run must continue: the position after the last batch that the arena has learned from.
  LoaderCursor cursor;
  std::vector<std::uint8_t> rng;  ///< The state of the accelerator host's random generator.
  /// The newest validation metrics, taken from the order. They rank checkpoints.
  std::vector<Scalar> metrics;
  std::vector<Scalar> host_state;  ///< What else the accelerator host wants back in RunState, such as its loss scale.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(samples),
            CEREAL_NVP(reason), CEREAL_NVP(cursor), CEREAL_NVP(rng), CEREAL_NVP(metrics), CEREAL_NVP(host_state));
  }
};

/// The copy is made, and the arena may change again. The file is written later; CheckpointDone reports it.
struct SnapshotTaken {
  static constexpr const char* kTypeName = "SnapshotTaken";

  std::uint64_t order = 0;
  std::uint64_t step = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step));
  }
};

/// The checkpoint is on disk, or it is not and `error` says why. A failed checkpoint does not end the run by itself:
/// the strategy manager decides.
struct CheckpointDone {
  static constexpr const char* kTypeName = "CheckpointDone";

  std::uint64_t order = 0;
  std::uint64_t step = 0;
  /// The path of the checkpoint's directory; empty if it was not written.
  std::string path;
  std::uint64_t bytes = 0;
  std::string error;  ///< Empty if the checkpoint is written, hashed and synced.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(path), CEREAL_NVP(bytes), CEREAL_NVP(error));
  }
};

/// Where the run begins: at zero, or where a checkpoint left it. The checkpoint writer sends it once, after it has
/// filled the arena. The accelerator host, the optimizer and the strategy manager start counting from here. A run
/// without a checkpoint writer has no RunState and begins at zero.
struct RunState {
  static constexpr const char* kTypeName = "RunState";

  bool resumed = false;
  /// The checkpoint that was loaded, or empty if there is none. The fields below are then those of its run.json.
  std::string path;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;
  LoaderCursor cursor;
  std::vector<std::uint8_t> rng;
  std::vector<Scalar> metrics;
  std::vector<Scalar> host_state;  ///< What the host put into the Snapshot.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(resumed), CEREAL_NVP(path), CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(samples),
            CEREAL_NVP(cursor), CEREAL_NVP(rng), CEREAL_NVP(metrics), CEREAL_NVP(host_state));
  }
};

}  // namespace trainyard
