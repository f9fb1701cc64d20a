#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// Where a data loader stands in the training stream: the next batch to deliver. With the seed and the dataset it
/// determines every later batch, which is why a checkpoint needs nothing else of the loader: order within an epoch is
/// computed from seed and epoch, not remembered.
struct LoaderCursor {
  static constexpr const char* kTypeName = "LoaderCursor";

  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;  ///< Index of the next batch within the epoch.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(epoch), CEREAL_NVP(batch));
  }
};

/// One micro-batch. `tensors` are in the order of DatasetInfo::fields, each with the batch as its first dimension.
///
/// All tensors of a batch lie in one shared buffer, so that it costs one reference to pass on. The receiver reads in
/// place; the buffer goes back to the loader's pool when the last reader has let go of the message.
struct Batch {
  static constexpr const char* kTypeName = "Batch";

  std::uint64_t order = 0;  ///< The Order this batch was asked for by.
  std::string split;        ///< "train", "validate", "test" or "predict".
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;    ///< Within the epoch or the evaluation, from 0.
  std::uint64_t samples = 0;  ///< Rows; the last batch of a split may be short, or empty on some ranks.
  // Rows of this batch on all ranks together; those that several ranks have alike count for each of them. 0: not known.
  std::uint64_t world_samples = 0;
  // Training: of the whole split, whatever limit the manager has set. Else: of the order.
  bool last_in_epoch = false;
  LoaderCursor next;  ///< Where to resume after this batch was used.
  // On the host's memory; the accelerator moves them where they are needed.
  std::vector<Tensor> tensors;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(split), CEREAL_NVP(epoch), CEREAL_NVP(index), CEREAL_NVP(samples),
            CEREAL_NVP(world_samples), CEREAL_NVP(last_in_epoch), CEREAL_NVP(next), CEREAL_NVP(tensors));
  }
};

}  // namespace trainyard
