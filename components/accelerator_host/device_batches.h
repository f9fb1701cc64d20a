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

/// Brings batches to the device, in the type that the model computes with. A batch may be asked for before it is
/// wanted, where the device has memory of its own; everywhere else the model works on the message's memory.
class DeviceBatches {
 public:
  /// `own_memory`: kernels do not work on the host's memory.
  DeviceBatches(ClaimedDevice& device, Precision precision, bool own_memory)
      : device_(device), precision_(std::move(precision)), own_memory_(own_memory) {}

  /// Begins to move a batch that take() will be asked for later.
  void prefetch(const Batch& batch);

  /// The batch on the device, valid until release(). Of a batch of zero rows there are no tensors.
  ModelBatch take(const Batch& batch);

  /// Gives the message's memory back.
  void release() { views_.release(); }

 private:
  /// A batch that is on its way to the device; known by its place in the run.
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
