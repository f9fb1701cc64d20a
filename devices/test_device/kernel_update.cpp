// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/kernel_update.h"

#include <utility>

#include "devices/test_device/update_kernels.h"

namespace trainyard::test_device {

KernelUpdate::KernelUpdate(TestStream& stream, const devices::UpdateRequest& request, devices::UpdateRegions regions)
    : stream_(stream),
      formula_(request.formula),
      ranges_(request.ranges),
      dtype_(regions.dtype),
      regions_{std::move(regions.parameters), std::move(regions.gradients)} {
  static_cast<void>(devices::state_type_of(dtype_));  // Refuses other types.
  for (devices::Region& region : regions.state) regions_.push_back(std::move(region));
}

void KernelUpdate::run(std::span<const devices::Coefficients<double>> coefficients) {
  stream_.launch("update", regions_, kernel({coefficients.begin(), coefficients.end()}));
}

template <class T, class A>
TestStream::Kernel KernelUpdate::kernel(Coefficients coefficients) const {
  return [formula = formula_, ranges = ranges_, coefficients = std::move(coefficients)](auto blocks) {
    const auto at = [&blocks]<class E>(std::size_t block, std::uint64_t element, E*) {
      return reinterpret_cast<E*>(blocks[block].data()) + element;
    };
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      constexpr T* kElement = nullptr;
      constexpr A* kState = nullptr;
      UpdateSlices<T, A> slices{
          at(0, ranges[r].begin, kElement), at(1, ranges[r].begin, kElement), {}, ranges[r].count};
      for (std::size_t i = 2; i < blocks.size(); ++i) slices.state[i - 2] = at(i, ranges[r].begin, kState);
      update(formula, slices, devices::rounded<A>(coefficients[r]));
    }
  };
}

TestStream::Kernel KernelUpdate::kernel(Coefficients coefficients) const {
  switch (dtype_) {
    case DType::kFloat64:
      return kernel<double, double>(std::move(coefficients));
    case DType::kBFloat16:
      return kernel<BFloat16, float>(std::move(coefficients));
    case DType::kFloat16:
      return kernel<Float16, float>(std::move(coefficients));
    default:
      return kernel<float, float>(std::move(coefficients));  // The constructor accepts no other type.
  }
}

}  // namespace trainyard::test_device
