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

/// The batches on their way from messages to the model: they are copied to the device and converted to the model's
/// type. If the device has separate memory, the copy can begin before the batch is needed. On other devices, the model
/// works on the memory of the message.
class DeviceBatches {
 public:
  /// `device` is where the model computes, and `precision` determines the type of the batches. `own_memory` is true if
  /// the device has separate memory.
  DeviceBatches(ClaimedDevice& device, Precision precision, bool own_memory)
      : device_(device), precision_(std::move(precision)), own_memory_(own_memory) {}

  /// Begins to copy a batch for which take() will be called later. Does nothing if the device has no separate memory.
  void prefetch(const Batch& batch);

  /// Returns the batch on the device, which is valid until release(). A batch of zero rows has no tensors.
  ModelBatch take(const Batch& batch);

  /// Releases the memory of the message that take() or prefetch() used.
  void release() { views_.release(); }

 private:
  /// A batch that is being copied to the device. It is identified by its order, its epoch and its index.
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
