// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/batch_views.h"

#include <ATen/ops/from_blob.h>

#include <utility>

#include "tensors/bridge.h"

namespace trainyard {
namespace {

/// Returns true if other code holds the view, or another view of the same memory.
bool kept_by_others(const at::Tensor& view) { return view.use_count() > 1 || view.storage().use_count() > 1; }

}  // namespace

at::Tensor BatchViews::view(const Tensor& tensor) {
  if (tensor.elements() == 0) return view_of(tensor);
  for (Entry& entry : entries_) {
    if (entry.data != tensor.data() || entry.in_use || entry.source.dtype != tensor.dtype ||
        entry.source.shape != tensor.shape) {
      continue;
    }
    entry.source.buffer = tensor.buffer;
    entry.in_use = true;
    return entry.view;
  }
  if (entries_.size() >= kMaxEntries) return view_of(tensor);
  // The view does not own its memory. The entry keeps it as long as the view is in use.
  checked_bytes(tensor.dtype, tensor.shape);
  const auto options = at::TensorOptions().dtype(scalar_type_of(tensor.dtype));
  entries_.push_back({tensor, tensor.data(), at::from_blob(tensor.data(), tensor.shape, options), true});
  return entries_.back().view;
}

/// If other code has kept a view, its memory is not released; the next call checks it again.
void BatchViews::release() {
  for (Entry& entry : entries_) {
    if (!entry.in_use || kept_by_others(entry.view)) continue;
    entry.source.buffer = {};
    entry.in_use = false;
  }
}

}  // namespace trainyard
