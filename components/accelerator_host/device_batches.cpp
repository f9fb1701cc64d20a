// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/device_batches.h"

#include <utility>

namespace trainyard {

/// Returns the tensors of the message on the device. If the device has no separate memory, they are views of the memory
/// of the message.
std::vector<at::Tensor> DeviceBatches::move(const Batch& batch) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(batch.tensors.size());
  for (const Tensor& tensor : batch.tensors) tensors.push_back(views_.view(tensor));
  return device_.to_device(std::move(tensors));
}

void DeviceBatches::prefetch(const Batch& batch) {
  if (!own_memory_ || batch.samples == 0) return;
  prefetched_ = {batch.order, batch.epoch, batch.index, move(batch)};
  views_.release();
}

ModelBatch DeviceBatches::take(const Batch& batch) {
  ModelBatch result{.split = batch.split, .tensors = {}};
  if (batch.samples == 0) return result;
  const bool is_there = prefetched_ && prefetched_->is(batch);
  result.tensors = is_there ? std::move(prefetched_->tensors) : move(batch);
  if (is_there) prefetched_.reset();
  for (at::Tensor& tensor : result.tensors) tensor = with_precision(tensor, precision_);
  return result;
}

}  // namespace trainyard
