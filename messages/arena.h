#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// One named tensor inside a block of the arena: a row of the arena's table of contents.
///
/// A parameter has one entry, in block "parameters"; its gradient and its optimizer state lie at the same offset in
/// their own blocks, so they need no entry of their own.
struct ArenaEntry {
  static constexpr const char* kTypeName = "ArenaEntry";

  std::string name;        ///< "layers.0.attention.weight"
  std::string block;       ///< "parameters" or "buffers".
  std::uint8_t dtype = 7;  ///< A DType.
  // Row-major and dense; a scalar has none.
  std::vector<std::int64_t> shape;
  std::uint64_t offset_bytes = 0;  ///< In its block; a multiple of 64.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(block), CEREAL_NVP(dtype), CEREAL_NVP(shape), CEREAL_NVP(offset_bytes));
  }
};

/// One flat block: a one-dimensional tensor over memory that every reader maps.
///
/// The memory is permanent (SharedPool::allocate_permanent): it stays at its place for the whole run, so a reader maps
/// it once, when the message comes, and keeps the pointer.
struct ArenaBlock {
  static constexpr const char* kTypeName = "ArenaBlock";

  // Blocks of the host have fixed names; those of an optimizer are named as its rule names its state.
  std::string name;  ///< "parameters", "gradients", "buffers", "exp_avg", ...
  Tensor data;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(data));
  }
};

/// The parameter arena of one rank. The gradients and every block of optimizer state have the layout of the parameters.
/// Bytes between entries are padding and stay zero: an optimizer may run over whole blocks without looking at entries,
/// and a norm over a block is the norm over its tensors.
///
/// Sent once by the accelerator host, after the model was built, to the optimizer and the checkpoint writer. From then
/// on the three write to the same memory and take turns by messages: Gradients, Parameters, Snapshot, SnapshotTaken.
struct ArenaInfo {
  static constexpr const char* kTypeName = "ArenaInfo";

  // Of the accelerator host that sends it.
  std::uint32_t rank = 0;
  std::string device = "cpu";
  std::string model;  ///< Name of the model plugin.
  std::vector<ArenaBlock> blocks;
  // In the order of the model's parameters; the offsets of a block ascend. Of the whole model, whatever part of it the
  // blocks of this rank hold.
  std::vector<ArenaEntry> entries;
  std::uint64_t parameter_bytes = 0;  ///< Of all parameters together: the end of the last entry, padding included.
  // Where this rank's part begins: its blocks "parameters" and "gradients" hold the bytes from here on. Less than
  // everything if the ranks share the parameters or their optimizer's state out among them.
  std::uint64_t shard_begin = 0;
  bool shared_state = false;  ///< All ranks update the same parameters, with one optimizer's state: that of rank 0.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(device), CEREAL_NVP(model), CEREAL_NVP(blocks), CEREAL_NVP(entries),
            CEREAL_NVP(parameter_bytes), CEREAL_NVP(shard_begin), CEREAL_NVP(shared_state));
  }
};

/// The optimizer's blocks, for the checkpoint writer, which reads and (on resume) fills them in place.
///
/// Sent once by the optimizer, as soon as it has memory for its state. `rule` and `hyperparameters` go into the
/// checkpoint's record.
struct OptimizerState {
  static constexpr const char* kTypeName = "OptimizerState";

  std::uint32_t rank = 0;
  std::string rule;  ///< "adamw", ...
  // Laid out like the part of the parameters that the rank has (ArenaInfo::shard_begin).
  std::vector<ArenaBlock> blocks;
  // As far as they are numbers: for people and for the record.
  std::map<std::string, double> hyperparameters;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(rule), CEREAL_NVP(blocks), CEREAL_NVP(hyperparameters));
  }
};

/// The accelerator host and its optimizer are ready to train. Sent once, when the host has seen Parameters of step 0
/// and, if there is a checkpoint writer, RunState; the strategy manager gives no order before it.
struct ModelInfo {
  static constexpr const char* kTypeName = "ModelInfo";

  std::uint32_t rank = 0;
  std::string model;
  std::string device;
  // "32-true": of parameters and computation, in Lightning's words.
  std::string precision;
  std::uint64_t parameters = 0;  ///< Trainable numbers.
  // Of the host's blocks; the optimizer's state comes on top.
  std::uint64_t arena_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(model), CEREAL_NVP(device), CEREAL_NVP(precision), CEREAL_NVP(parameters),
            CEREAL_NVP(arena_bytes));
  }
};

}  // namespace trainyard
