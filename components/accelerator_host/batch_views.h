#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// LibTorch views of incoming batches. Buffers come out of a pool and return to the same addresses, so the views are
/// kept and used again, and a step makes no new ones.
class BatchViews {
 public:
  /// A view of `tensor`, valid until `release`, or longer if the caller keeps it: then the buffer is kept as well.
  at::Tensor view(const Tensor& tensor);

  /// Gives back every buffer whose view nobody has kept.
  void release();

  /// The number of views that are remembered.
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kMaxEntries = 32;

  struct Entry {
    Tensor source;    ///< Its buffer is empty while the view is unused.
    std::byte* data;  ///< The address of the view's bytes.
    at::Tensor view;
    bool in_use = false;
  };

  std::vector<Entry> entries_;
};

}  // namespace trainyard
