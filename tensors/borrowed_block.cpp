// SPDX-License-Identifier: Apache-2.0
#include "tensors/borrowed_block.h"

#include <ATen/ops/empty.h>

#include "messages/error.h"

namespace trainyard {

BorrowedBlock::BorrowedBlock(std::int64_t elements, const at::TensorOptions& options) : flat_(at::empty({0}, options)) {
  point_to(nullptr);
  // The storage claims to have the full size, so LibTorch does not try to allocate memory for it.
  flat_.storage().unsafeGetStorageImpl()->set_nbytes(static_cast<std::size_t>(elements) * flat_.element_size());
  flat_.unsafeGetTensorImpl()->set_sizes_contiguous({elements});
}

at::Tensor BorrowedBlock::view(std::int64_t begin, at::IntArrayRef sizes) const {
  const std::int64_t elements = c10::multiply_integers(sizes);
  return flat_.narrow(0, begin, elements).view(sizes);
}

void BorrowedBlock::lend(const at::Tensor& memory) {
  if (memory.numel() != flat_.numel() || memory.scalar_type() != flat_.scalar_type() || !memory.is_contiguous()) {
    throw Error(Code::kInternal, "a block of {} elements was lent memory for {}", flat_.numel(), memory.numel());
  }
  memory_ = memory;
  point_to(memory.data_ptr());
}

void BorrowedBlock::take_back() {
  point_to(nullptr);
  memory_ = at::Tensor();
}

void BorrowedBlock::point_to(void* data) {
  flat_.storage().unsafeGetStorageImpl()->set_data_ptr_noswap(at::DataPtr(data, flat_.device()));
}

}  // namespace trainyard
