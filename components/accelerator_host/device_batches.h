// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "accelerators/claimed_device.h"
#include "components/accelerator_host/batch_views.h"
#include "messages/batch.h"
#include "models/model.h"
#include "tensors/precision.h"

namespace trainyard {

/// Makes the tensors of a message usable by the model: copies them to the device if it has separate memory, and
/// converts them to the model's type if they have another type. If neither is necessary, the model works directly on
/// the memory of the message.
class DeviceBatches {
 public:
  /// The model computes on `device`. `precision` determines the type to which batches are converted. `own_memory` is
  /// true if the device has separate memory.
  DeviceBatches(ClaimedDevice& device, Precision precision, bool own_memory)
      : device_(device), precision_(std::move(precision)), own_memory_(own_memory) {}

  /// Begins to copy a batch to the device before take() is called for it, so that the copy overlaps with other work.
  /// Only the batch of the most recent call is kept for take(). Does nothing if the device has no separate memory.
  void prefetch(const Batch& batch);

  /// Returns the tensors of the batch on the device. They are valid until release(). If `batch` has no samples, the
  /// result has no tensors.
  ModelBatch take(const Batch& batch);

  /// Releases the memory of the messages that take() and prefetch() have used.
  void release() { views_.release(); }

 private:
  /// A batch that is being copied to the device.
  struct Prefetched {
    std::uint64_t order, epoch, index;
    std::vector<at::Tensor> tensors;
    bool is(const Batch& batch) const { return order == batch.order && epoch == batch.epoch && index == batch.index; }
  };

  std::vector<at::Tensor> move(const Batch& batch);

  ClaimedDevice& device_;
  Precision precision_;
  bool own_memory_;
  BatchViews views_;
  std::optional<Prefetched> prefetched_;
};

}  // namespace trainyard
