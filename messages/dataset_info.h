#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trainyard {

/// One tensor of every sample, without the batch dimension.
struct DatasetField {
  static constexpr const char* kTypeName = "DatasetField";

  std::string name;        ///< "input", "target", ...
  std::uint8_t dtype = 0;  ///< A DType.
  std::vector<std::int64_t> shape;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(dtype), CEREAL_NVP(shape));
  }
};

/// How much there is of one split: of its samples, over all ranks, and of batches, the same number for each of them.
struct SplitInfo {
  static constexpr const char* kTypeName = "SplitInfo";

  std::string name;
  std::uint64_t samples = 0;
  std::uint64_t batches = 0;  ///< Of one rank, per epoch, with this batch size.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(samples), CEREAL_NVP(batches));
  }
};

/// What a data loader will deliver. Sent once, before the first batch; models take their sizes from it, so that a model
/// is built without knowing a dataset by name.
struct DatasetInfo {
  static constexpr const char* kTypeName = "DatasetInfo";

  std::string dataset;  ///< Name of the dataset plugin.
  // Rows of a full batch.
  std::uint64_t batch_size = 0;
  std::vector<SplitInfo> splits;
  std::vector<DatasetField> fields;
  std::uint64_t classes = 0;            ///< Number of classes or of tokens in the vocabulary; 0 = none.
  std::vector<std::string> vocabulary;  ///< Text of every token or class, where known.
  std::string unit = "sample";          ///< What throughput is counted in: "sample", "token".
  // Tokens of a sample of text, for instance; throughput is samples times this.
  std::uint64_t units_per_sample = 1;
  // For people and logs: the path, the encoding, ... Nothing computes with it.
  std::map<std::string, std::string> attributes;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(dataset), CEREAL_NVP(batch_size), CEREAL_NVP(splits), CEREAL_NVP(fields), CEREAL_NVP(classes),
            CEREAL_NVP(vocabulary), CEREAL_NVP(unit), CEREAL_NVP(units_per_sample), CEREAL_NVP(attributes));
  }
};

}  // namespace trainyard
