// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// A position in the training data: the epoch, and how many of its samples have been used.
///
/// The samples of all ranks are counted together, so the position does not depend on the number of ranks or the batch
/// size. Together with the seed and the dataset, the position determines every later sample, because the order of the
/// samples in an epoch is computed from the seed and the epoch's number. A checkpoint therefore stores no other state
/// of the data loader.
struct LoaderCursor {
  static constexpr const char* kTypeName = "LoaderCursor";

  std::uint64_t epoch = 0;
  /// The number of samples of this epoch that have been used, on all ranks together. If the data loader leaves
  /// SplitInfo::batch_samples at 0, this is a number of batches of one rank instead.
  std::uint64_t samples = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(epoch), CEREAL_NVP(samples));
  }
};

/// One batch of one rank. In training this is a micro-batch: one or more of them form a step. The `tensors` are in the
/// order of DatasetInfo::fields, and the first dimension of each tensor is the batch dimension.
///
/// All tensors of a batch are in one shared buffer, which receivers read in place. The data loader's pool reuses the
/// buffer when the last receiver has released the message.
struct Batch {
  static constexpr const char* kTypeName = "Batch";

  std::uint64_t order = 0;  ///< The id of the order that this batch belongs to.
  std::string split;        ///< The name of the split, such as "train" or "validate".
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  ///< The position of this batch in the epoch, evaluation or prediction, counted from 0.
  /// The number of samples in this batch. The last batch of a split can be short, or even empty on some ranks.
  std::uint64_t samples = 0;
  /// The total number of samples in the batches with this `index` on all ranks; 0 if it is unknown. A sample that is in
  /// the batches of several ranks is counted once for each of them.
  std::uint64_t world_samples = 0;
  /// In training: true for the last batch of the whole epoch. If the strategy manager (the component that directs the
  /// run) limits the number of batches that are used, the last of these batches is not marked. In an evaluation or a
  /// prediction: true for the last batch of the order.
  bool last_in_epoch = false;
  LoaderCursor next;  ///< The position at which training continues after this batch.
  /// The tensors are in host memory. The accelerator copies them to its device if necessary.
  std::vector<Tensor> tensors;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(split), CEREAL_NVP(epoch), CEREAL_NVP(index), CEREAL_NVP(samples),
            CEREAL_NVP(world_samples), CEREAL_NVP(last_in_epoch), CEREAL_NVP(next), CEREAL_NVP(tensors));
  }
};

}  // namespace trainyard
