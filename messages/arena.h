#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// One named tensor inside a block of the arena.
struct ArenaEntry {
  static constexpr const char* kTypeName = "ArenaEntry";

  std::string name;        ///< "layers.0.attention.weight"
  std::string block;       ///< "parameters" or "buffers".
  std::uint8_t dtype = 7;  ///< A DType.
  std::vector<std::int64_t> shape;
  std::uint64_t offset_bytes = 0;  ///< In its block; a multiple of 64.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(block), CEREAL_NVP(dtype), CEREAL_NVP(shape), CEREAL_NVP(offset_bytes));
  }
};

/// One flat block: a one-dimensional tensor over memory that every reader maps.
struct ArenaBlock {
  static constexpr const char* kTypeName = "ArenaBlock";

  std::string name;  ///< "parameters", "gradients", "buffers", "exp_avg", ...
  Tensor data;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(data));
  }
};

/// The parameter arena of one rank. The gradients and every block of optimizer state have the layout of the parameters.
/// Bytes between entries are padding and stay zero.
struct ArenaInfo {
  static constexpr const char* kTypeName = "ArenaInfo";

  std::uint32_t rank = 0;
  std::string device = "cpu";
  std::string model;  ///< Name of the model plugin.
  std::vector<ArenaBlock> blocks;
  std::vector<ArenaEntry> entries;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(device), CEREAL_NVP(model), CEREAL_NVP(blocks), CEREAL_NVP(entries));
  }
};

/// The optimizer's blocks, for the checkpoint writer, which reads and (on resume) fills them in place.
struct OptimizerState {
  static constexpr const char* kTypeName = "OptimizerState";

  std::string rule;  ///< "adamw", ...
  std::vector<ArenaBlock> blocks;
  std::map<std::string, double> hyperparameters;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rule), CEREAL_NVP(blocks), CEREAL_NVP(hyperparameters));
  }
};

/// The accelerator host and its optimizer are ready to train.
struct ModelInfo {
  static constexpr const char* kTypeName = "ModelInfo";

  std::uint32_t rank = 0;
  std::string model;
  std::string device;
  std::string precision;
  std::uint64_t parameters = 0;  ///< Trainable numbers.
  std::uint64_t arena_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(model), CEREAL_NVP(device), CEREAL_NVP(precision), CEREAL_NVP(parameters),
            CEREAL_NVP(arena_bytes));
  }
};

}  // namespace trainyard
