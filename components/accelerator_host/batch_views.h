// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// Makes LibTorch tensors that are views of the memory of incoming batches, so that nothing is copied. The memory comes
/// from a pool, so the same addresses occur repeatedly. The views are therefore kept and reused.
class BatchViews {
 public:
  /// Returns a view of `tensor`. The view is valid as long as the caller keeps it, even after release(), which does not
  /// release the memory of views that are still in use.
  at::Tensor view(const Tensor& tensor);

  /// Releases the memory of the batches whose views nobody uses any more, so that the data loader can reuse it.
  void release();

  /// Returns the number of stored views.
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kMaxEntries = 32;

  struct Entry {
    Tensor source;    ///< The tensor of the message. Its buffer is empty while nobody uses the view.
    std::byte* data;  ///< The address of the first byte of the view.
    at::Tensor view;
    bool in_use = false;
  };

  std::vector<Entry> entries_;
};

}  // namespace trainyard
