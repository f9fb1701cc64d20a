// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trainyard {

/// The description of one field of the samples. A field is a tensor that every sample has. The shape does not include
/// the batch dimension.
struct DatasetField {
  static constexpr const char* kTypeName = "DatasetField";

  std::string name;        ///< For example "input" or "target".
  std::uint8_t dtype = 0;  ///< The DType, as a number.
  std::vector<std::int64_t> shape;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(dtype), CEREAL_NVP(shape));
  }
};

/// The name of the split on which a model is trained. The dataset chooses the names of all other splits.
inline constexpr const char* kTrainSplit = "train";

/// The size of one split: the number of samples, for all ranks together, and the number of batches, which is the same
/// on every rank. The numbers of batches for training and for an evaluation can differ, because only training can leave
/// out a short last batch.
struct SplitInfo {
  static constexpr const char* kTypeName = "SplitInfo";

  std::string name;
  std::uint64_t samples = 0;
  std::uint64_t batches = 0;  ///< The number of batches of one rank per epoch.
  /// The number of batches of one rank in an evaluation or prediction of all samples; 0 if it is equal to `batches`.
  std::uint64_t evaluation_batches = 0;
  /// The number of samples by which one full batch on every rank advances the position in the data: normally the batch
  /// size times the number of ranks. 0 if the data loader does not announce this number; the positions of the data
  /// loader (LoaderCursor) then count batches instead of samples.
  std::uint64_t batch_samples = 0;
  bool short_last = false;  ///< True if training uses a last batch that is not full.

  /// Returns the number of training batches that remain on each rank in an epoch when all ranks together have used
  /// `used` samples of the epoch. If `batch_samples` is 0, `used` is a number of batches.
  std::uint64_t batches_from(std::uint64_t used) const {
    if (used == 0) return batches;
    if (batch_samples == 0) return batches - std::min(batches, used);
    const std::uint64_t left = samples - std::min(samples, used);
    return left / batch_samples + (short_last && left % batch_samples != 0 ? 1 : 0);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(samples), CEREAL_NVP(batches), CEREAL_NVP(evaluation_batches),
            CEREAL_NVP(batch_samples), CEREAL_NVP(short_last));
  }
};

/// The description of what a data loader delivers. The data loader sends this message once, before the first batch.
/// Models derive their sizes from this message, so they do not depend on a particular dataset.
struct DatasetInfo {
  static constexpr const char* kTypeName = "DatasetInfo";

  std::string dataset;  ///< The name of the dataset plugin.
  /// The number of samples in a full batch of one rank.
  std::uint64_t batch_size = 0;
  std::vector<SplitInfo> splits;
  std::vector<DatasetField> fields;
  std::uint64_t classes = 0;  ///< The number of classes, or of tokens in the vocabulary; 0 if the dataset has neither.
  std::vector<std::string> vocabulary;  ///< The text of every token or class, if known.
  std::string unit = "sample";          ///< What the throughput counts: "sample" or "token".
  /// The number of units (see `unit`) in one sample. For text, this is the number of tokens.
  std::uint64_t units_per_sample = 1;
  /// Further facts for display, by name, such as the path and the encoding. No computation uses them.
  std::map<std::string, std::string> attributes;
  /// Values, by name, that the dataset has computed from its data and that a trained model relies on, such as the means
  /// used for normalisation. The vocabulary is not included. Checkpoints store these values, and a run that resumes
  /// with different values is refused.
  std::map<std::string, std::string> learnt;
  std::uint64_t seed = 0;  ///< The seed that determines the order of the training samples.
  std::string sampling;    ///< How the training samples are ordered, such as "shuffle"; empty if unknown.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(dataset), CEREAL_NVP(batch_size), CEREAL_NVP(splits), CEREAL_NVP(fields), CEREAL_NVP(classes),
            CEREAL_NVP(vocabulary), CEREAL_NVP(unit), CEREAL_NVP(units_per_sample), CEREAL_NVP(attributes),
            CEREAL_NVP(learnt), CEREAL_NVP(seed), CEREAL_NVP(sampling));
  }
};

}  // namespace trainyard
