#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// LibTorch views of incoming batches. Buffers come out of a pool and return to the same addresses, so the views are
/// kept and used again: a step makes none of its own.
class BatchViews {
 public:
  /// A view of `tensor`, valid until `release`. Longer if the caller keeps it: then the buffer is kept as well.
  at::Tensor view(const Tensor& tensor);

  /// Gives back every buffer whose view nobody has kept.
  void release();

  /// How many views are remembered.
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kMaxEntries = 32;

  struct Entry {
    Tensor source;    ///< Its buffer is empty while the view is unused.
    std::byte* data;  ///< Where the view looks.
    at::Tensor view;
    bool in_use = false;
  };

  std::vector<Entry> entries_;
};

}  // namespace trainyard
