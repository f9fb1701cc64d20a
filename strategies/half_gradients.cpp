#include "strategies/half_gradients.h"

#include "tensors/bridge.h"

namespace trainyard {

HalfGradients::HalfGradients(Collective& world, const at::Tensor& gradients, at::ScalarType type)
    : world_(world), begin_(gradients.storage_offset()) {
  const DType dtype = dtype_of(type);
  const std::int64_t count = gradients.numel();
  narrow_ = view_of({dtype, {count}, 0, world.allocate(static_cast<std::size_t>(count) * size_of(dtype))});
}

Pending HalfGradients::average(at::Tensor slice) {
  const at::Tensor narrow = narrow_.narrow(0, slice.storage_offset() - begin_, slice.numel());
  narrow.copy_(slice.div_(static_cast<double>(world_.size())));
  Work work = world_.all_reduce(
      {narrow.data_ptr(), dtype_of(narrow.scalar_type()), static_cast<std::uint64_t>(narrow.numel())}, ReduceOp::kSum);
  return Pending([work, narrow, slice]() mutable {
    work.wait();
    slice.copy_(narrow);
  });
}

}  // namespace trainyard
