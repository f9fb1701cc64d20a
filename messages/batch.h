// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// A data loader's position in the training stream: how much of an epoch has been used.
///
/// The position counts the samples of all ranks together, so it does not depend on the number of ranks or the batch
/// size. Together with the seed and the dataset, the position determines every later sample, because the order of an
/// epoch is computed from the seed and the epoch's number. A checkpoint therefore stores no other state of the loader.
struct LoaderCursor {
  static constexpr const char* kTypeName = "LoaderCursor";

  std::uint64_t epoch = 0;
  /// The number of samples of this epoch that have been used, on all ranks together. A loader that does not announce
  /// SplitInfo::batch_samples counts batches instead.
  std::uint64_t samples = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(epoch), CEREAL_NVP(samples));
  }
};

/// One batch of one rank; in training this is a micro-batch. The `tensors` are in the order of DatasetInfo::fields, and
/// the first dimension of each tensor is the batch.
///
/// All tensors of a batch are in one shared buffer, so the batch is passed on by reference. The receiver reads them in
/// place. The loader's pool reuses the buffer when the last reader has released the message.
struct Batch {
  static constexpr const char* kTypeName = "Batch";

  std::uint64_t order = 0;  ///< The id of the order that this batch belongs to.
  std::string split;        ///< The name of the split, such as "train" or "validate".
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;    ///< The position within the epoch or the evaluation, from 0.
  std::uint64_t samples = 0;  ///< The number of rows. The last batch of a split may be short, or empty on some ranks.
  /// The number of rows of this batch on all ranks together, or 0 if it is unknown. A row that several ranks have in
  /// their batches is counted once for each of these ranks.
  std::uint64_t world_samples = 0;
  /// In training: true for the last batch of the whole epoch, even if the strategy manager limits the number of batches
  /// that are used. In an evaluation or a prediction: true for the last batch of the order.
  bool last_in_epoch = false;
  LoaderCursor next;  ///< The position from which training resumes after this batch.
  /// The tensors are in host memory. The accelerator copies them to its device if necessary.
  std::vector<Tensor> tensors;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(split), CEREAL_NVP(epoch), CEREAL_NVP(index), CEREAL_NVP(samples),
            CEREAL_NVP(world_samples), CEREAL_NVP(last_in_epoch), CEREAL_NVP(next), CEREAL_NVP(tensors));
  }
};

}  // namespace trainyard
