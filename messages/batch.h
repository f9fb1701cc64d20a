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
/// It counts samples of all ranks together, so it does not depend on the number of ranks or the batch size.
/// Together with the seed and the dataset it determines every later sample, because the order of an epoch is computed
/// from the seed and the epoch's number. It is therefore all that a checkpoint stores about the loader.
struct LoaderCursor {
  static constexpr const char* kTypeName = "LoaderCursor";

  std::uint64_t epoch = 0;
  /// The samples of this epoch that have been used, on all ranks together. A loader that does not announce
  /// SplitInfo::batch_samples may count something else, such as its batches.
  std::uint64_t samples = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(epoch), CEREAL_NVP(samples));
  }
};

/// One batch of one rank; in training this is a micro-batch. `tensors` follow the order of DatasetInfo::fields, and the
/// first dimension of each is the batch.
///
/// All tensors of a batch are in one shared buffer, so the batch is passed on by reference. The receiver reads them in
/// place. The loader's pool reuses the buffer when the last reader has released the message.
struct Batch {
  static constexpr const char* kTypeName = "Batch";

  std::uint64_t order = 0;  ///< The id of the Order that asked for this batch.
  std::string split;        ///< The name of the split, such as "train" or "validate".
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;    ///< The position within the epoch or the evaluation, from 0.
  std::uint64_t samples = 0;  ///< The number of rows. The last batch of a split may be short, or empty on some ranks.
  /// The number of rows of this batch on all ranks together, or 0 if it is unknown. A row that several ranks have
  /// counts once for each of them.
  std::uint64_t world_samples = 0;
  /// True for the last batch of a whole training epoch, whatever limit the manager has set, and for the last batch of
  /// an order that evaluates or predicts.
  bool last_in_epoch = false;
  LoaderCursor next;  ///< The position at which to resume after this batch.
  /// The tensors are in host memory. The accelerator copies them to its device if necessary.
  std::vector<Tensor> tensors;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(split), CEREAL_NVP(epoch), CEREAL_NVP(index), CEREAL_NVP(samples),
            CEREAL_NVP(world_samples), CEREAL_NVP(last_in_epoch), CEREAL_NVP(next), CEREAL_NVP(tensors));
  }
};

}  // namespace trainyard
