// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// LibTorch views of incoming batches. Buffers come from a pool, so the same addresses occur repeatedly. The views are
/// therefore kept and reused, and a step usually creates no new ones.
class BatchViews {
 public:
  /// Returns a view of `tensor`, which is valid until release(). If the caller keeps the view longer, the buffer is
  /// kept, too.
  at::Tensor view(const Tensor& tensor);

  /// Releases every buffer whose view is no longer in use.
  void release();

  /// Returns the number of stored views.
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kMaxEntries = 32;

  struct Entry {
    Tensor source;    ///< The tensor of the message. Its buffer is empty while the view is unused.
    std::byte* data;  ///< The address of the first byte of the view.
    at::Tensor view;
    bool in_use = false;
  };

  std::vector<Entry> entries_;
};

}  // namespace trainyard
