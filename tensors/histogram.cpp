// SPDX-License-Identifier: Apache-2.0
#include "tensors/histogram.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/masked_select.h>
#include <ATen/ops/var_mean.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "tensors/histogram_kernel.h"

namespace trainyard {
namespace {

/// The number of elements in a slice, which is processed as a whole. It limits the memory for copies, which are needed
/// for 16-bit types and factors, and is small enough that float32 represents the counts of a slice exactly.
constexpr std::int64_t kSlice = 1 << 20;
/// Beyond this magnitude, squares of values could overflow in float32.
constexpr double kLargeMagnitude = 0x1p60;

/// Returns all elements in one dimension, in the order of the memory if that needs no copy.
at::Tensor flat(const at::Tensor& values) {
  if (values.is_non_overlapping_and_dense()) return at::as_strided(values, {values.numel()}, {1});
  return values.reshape({-1});
}

/// Calls `use` with each slice, multiplied by `factor` and converted to float32 if its type is narrower.
template <class Use>
void for_each_slice(const at::Tensor& values, double factor, Use use) {
  for (std::int64_t begin = 0; begin < values.numel(); begin += kSlice) {
    at::Tensor slice = values.narrow(0, begin, std::min(kSlice, values.numel() - begin));
    if (slice.element_size() < 4 || !slice.is_floating_point()) slice = slice.to(at::kFloat);
    if (factor != 1) slice = slice.mul(factor);
    use(slice);
  }
}

at::Tensor finite_part(const at::Tensor& slice) { return slice.masked_select(at::isfinite(slice)); }

struct Range {
  double smallest = 0, largest = 0;
  bool finite() const { return std::isfinite(smallest) && std::isfinite(largest); }
};

/// Returns the smallest and the largest element. If an element is not finite, at least one of the results is not
/// finite.
Range range_of(const at::Tensor& slice) {
  const auto [low, high] = at::aminmax(slice);
  return {low.item<double>(), high.item<double>()};
}

/// Determines the numbers of elements, and the smallest and the largest finite value.
void measure_range(const at::Tensor& values, double factor, Histogram& made) {
  std::int64_t finite = 0;
  for_each_slice(values, factor, [&](at::Tensor slice) {
    Range range = range_of(slice);
    if (!range.finite()) {
      slice = finite_part(slice);
      if (slice.numel() == 0) return;
      range = range_of(slice);
    }
    made.smallest = finite == 0 ? range.smallest : std::min(made.smallest, range.smallest);
    made.largest = finite == 0 ? range.largest : std::max(made.largest, range.largest);
    finite += slice.numel();
  });
  made.elements = static_cast<std::uint64_t>(values.numel());
  made.not_finite = made.elements - static_cast<std::uint64_t>(finite);
}

/// Does the same as add_to_buckets(), but with LibTorch's operations, for other devices and types.
void add_with_libtorch(const at::Tensor& slice, const BucketGrid& grid, BucketSums& sums) {
  constexpr auto kBuckets = static_cast<std::int64_t>(Histogram::kMaxBuckets);
  const auto [variance, mean] = at::var_mean(slice, /*unbiased=*/false);
  const auto count = static_cast<double>(slice.numel());
  const double distance = mean.item<double>() - grid.centre;
  sums.distances += count * distance;
  sums.squares += count * (variance.item<double>() + distance * distance);
  const double high = grid.low + static_cast<double>(kBuckets) * grid.width;
  const at::Tensor counts = at::histc(slice, kBuckets, grid.low, high).to(at::kCPU, at::kLong);
  for (std::int64_t i = 0; i < kBuckets; ++i)
    sums.counts[i] += static_cast<std::uint64_t>(counts.data_ptr<std::int64_t>()[i]);
}

/// Computes the counts of the buckets, the mean and the standard deviation.
void count(const at::Tensor& values, double factor, Histogram& made) {
  const BucketGrid grid{.low = static_cast<double>(made.first) * made.width,
                        .width = made.width,
                        .centre = made.smallest / 2 + made.largest / 2};
  const bool large = std::max(std::abs(made.smallest), std::abs(made.largest)) > kLargeMagnitude;
  BucketSums sums;
  for_each_slice(values, factor, [&](at::Tensor slice) {
    if (made.not_finite > 0) slice = finite_part(slice);
    if (slice.numel() == 0) return;
    if (slice.is_cpu() && slice.scalar_type() == at::kFloat && slice.is_contiguous() && !large) {
      add_to_buckets({slice.data_ptr<float>(), static_cast<std::size_t>(slice.numel())}, grid, sums);
    } else {
      add_with_libtorch(large ? slice.to(at::kDouble) : slice, grid, sums);
    }
  });
  const auto finite = static_cast<double>(made.elements - made.not_finite);
  const double distance = sums.distances / finite;
  made.mean = grid.centre + distance;
  made.deviation = std::sqrt(std::max(sums.squares / finite - distance * distance, 0.0));
  made.counts.assign(std::begin(sums.counts), std::end(sums.counts));
}

void trim(Histogram& made) {
  const auto used = [](std::uint64_t count) { return count != 0; };
  const auto begin = std::find_if(made.counts.begin(), made.counts.end(), used);
  made.first += begin - made.counts.begin();
  made.counts.erase(made.counts.begin(), begin);
  made.counts.erase(std::find_if(made.counts.rbegin(), made.counts.rend(), used).base(), made.counts.end());
}

}  // namespace

double bucket_width(double smallest, double largest) {
  const double magnitude = std::max(std::abs(smallest), std::abs(largest));
  if (magnitude == 0) return 1;
  // If all values are equal, the only bucket is made wider, so that it is still visible in a picture.
  int exponent = largest > smallest ? std::max(std::ilogb(largest - smallest), std::ilogb(magnitude) - 16) - 6
                                    : std::ilogb(magnitude) - 6;
  exponent = std::max(exponent, -126);
  const auto bucket = [&](double value) { return std::floor(std::ldexp(value, -exponent)); };
  while (bucket(largest) - bucket(smallest) >= static_cast<double>(Histogram::kMaxBuckets)) ++exponent;
  return std::ldexp(1.0, exponent);
}

Histogram histogram_of(const at::Tensor& values, double factor) {
  const at::NoGradGuard no_gradients;
  const at::Tensor elements = flat(values);
  Histogram made;
  measure_range(elements, factor, made);
  if (made.elements == made.not_finite) return made;
  made.width = bucket_width(made.smallest, made.largest);
  made.first = static_cast<std::int64_t>(std::floor(made.smallest / made.width));
  count(elements, factor, made);
  trim(made);
  return made;
}

}  // namespace trainyard
