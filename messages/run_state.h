#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/batch.h"
#include "messages/scalar.h"

namespace trainyard {

/// Asks the checkpoint writer to copy the arena now, between two steps; the copy is made when every rank has asked.
/// Sent by the accelerator host, which sends no further Gradients until SnapshotTaken has come back: that is what keeps
/// the optimizer's hands off the memory. It may compute the next gradients meanwhile, since those are not part of a
/// checkpoint, unless a forward pass would change buffers, which are.
struct Snapshot {
  static constexpr const char* kTypeName = "Snapshot";

  std::uint32_t rank = 0;
  // The checkpoint order; comes back in SnapshotTaken and CheckpointDone.
  std::uint64_t order = 0;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;
  std::string reason;
  // After the last batch that the arena has learned from: where a resumed run must go on.
  LoaderCursor cursor;
  std::vector<std::uint8_t> rng;  ///< State of the accelerator host's random generator.
  // Of the order: the newest validation metrics, by which checkpoints are ranked.
  std::vector<Scalar> metrics;
  std::vector<Scalar> host_state;  ///< What else the accelerator host wants back in RunState: its loss scale.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(samples),
            CEREAL_NVP(reason), CEREAL_NVP(cursor), CEREAL_NVP(rng), CEREAL_NVP(metrics), CEREAL_NVP(host_state));
  }
};

/// The copy is made; the arena may change again. The file is written later: CheckpointDone.
struct SnapshotTaken {
  static constexpr const char* kTypeName = "SnapshotTaken";

  std::uint64_t order = 0;
  std::uint64_t step = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step));
  }
};

/// The checkpoint is on disk, or is not and `error` says why. A failed checkpoint does not end the run by itself: the
/// strategy manager decides.
struct CheckpointDone {
  static constexpr const char* kTypeName = "CheckpointDone";

  std::uint64_t order = 0;
  std::uint64_t step = 0;
  // Of the checkpoint's directory; empty if it was not written.
  std::string path;
  std::uint64_t bytes = 0;
  std::string error;  ///< Empty = written, hashed and synced.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(path), CEREAL_NVP(bytes), CEREAL_NVP(error));
  }
};

/// Where the run begins: at zero, or where a checkpoint left it. Sent once by the checkpoint writer, after it has
/// filled the arena. Host, optimizer and manager start counting from here; a launch without a checkpoint writer
/// has no RunState and begins at zero.
struct RunState {
  static constexpr const char* kTypeName = "RunState";

  bool resumed = false;
  // The checkpoint that was loaded; empty without one. The fields below are then those of its run.json.
  std::string path;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;
  LoaderCursor cursor;
  std::vector<std::uint8_t> rng;
  std::vector<Scalar> metrics;
  std::vector<Scalar> host_state;  ///< As in the Snapshot.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(resumed), CEREAL_NVP(path), CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(samples),
            CEREAL_NVP(cursor), CEREAL_NVP(rng), CEREAL_NVP(metrics), CEREAL_NVP(host_state));
  }
};

}  // namespace trainyard
