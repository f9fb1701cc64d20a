// SPDX-License-Identifier: Apache-2.0
#include "datasets/synthetic/synthetic.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "core/random/random.h"
#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/tensor.h"

namespace trainyard {
namespace {

constexpr std::uint64_t kPlaces =
    1 << 15;  // The table is small enough to stay in the second-level cache, together with a few samples.

/// Returns independent draws from the normal distribution with mean 0, made with the Box-Muller method. They are the
/// same on every machine.
std::vector<float> normal_numbers(std::size_t count, double deviation, std::uint64_t key) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double radius = std::sqrt(-2 * std::log(random_unit(random_bits(2 * i, key))));
    const double angle = 2 * std::numbers::pi * random_unit(random_bits(2 * i + 1, key));
    numbers[i] = static_cast<float>(deviation * radius * std::cos(angle));
  }
  return numbers;
}

}  // namespace

std::vector<std::int64_t> Synthetic::sample_shape() const {
  return shape_->empty() ? std::vector<std::int64_t>{*features_} : *shape_;
}

void Synthetic::open() {
  width_ = checked_bytes(DType::kFloat32, sample_shape()) / sizeof(float);
  centres_ = normal_numbers(static_cast<std::size_t>(*classes_) * width_, *separation_,
                            random_key(context().seed, "synthetic centres"));
  // The noise is the sum of two sections, so each section has half of the variance.
  table_ = normal_numbers(kPlaces + width_, *noise_ * std::numbers::sqrt2 / 2,
                          random_key(context().seed, "synthetic noise"));
}

DatasetInfo Synthetic::info() const {
  DatasetInfo info;
  info.dataset = "synthetic";
  for (const char* split : {"train", "validate", "test"}) {
    if (samples_of(split) > 0) info.splits.push_back({split, samples_of(split)});
  }
  info.fields = {{"input", static_cast<std::uint8_t>(DType::kFloat32), sample_shape()},
                 {"target", static_cast<std::uint8_t>(DType::kInt64), {}}};
  info.classes = static_cast<std::uint64_t>(*classes_);
  return info;
}

std::uint64_t Synthetic::samples_of(std::string_view split) const {
  if (split == "train") return static_cast<std::uint64_t>(*samples_);
  if (split == "validate") return static_cast<std::uint64_t>(*validate_samples_);
  if (split == "test") return static_cast<std::uint64_t>(*test_samples_);
  return 0;
}

// The random numbers for labels have a separate key, so the parameter `mislabelled` changes only the labels and not the
// values.
std::int64_t Synthetic::label_of(std::int64_t own, std::string_view split, std::uint64_t index) const {
  if (*mislabelled_ == 0 || *classes_ == 1) return own;
  const std::uint64_t key = random_key(context().seed, "synthetic labels", random_key(0, split));
  if (random_unit(random_bits(2 * index, key)) >= *mislabelled_) return own;
  const auto others = static_cast<std::uint64_t>(*classes_) - 1;
  return (own + 1 + static_cast<std::int64_t>(random_below(random_bits(2 * index + 1, key), others))) % *classes_;
}

void Synthetic::read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const {
  check_sample(split, index, samples_of(split));
  // The classes take turns, so that even a batch of consecutive samples contains all classes equally often.
  const auto own = static_cast<std::int64_t>(index % static_cast<std::uint64_t>(*classes_));
  // A sample depends only on the seed, the split and the index, so any worker thread can generate it at any time.
  const std::uint64_t bits = random_bits(index, random_key(context().seed, split));
  const float* centre = centres_.data() + static_cast<std::size_t>(own) * width_;
  const float* first = table_.data() + bits % kPlaces;
  const float* second = table_.data() + (bits >> 32) % kPlaces;
  auto* input = reinterpret_cast<float*>(fields[0].data());
  for (std::size_t i = 0; i < width_; ++i) input[i] = centre[i] + first[i] + second[i];
  const std::int64_t label = label_of(own, split, index);
  std::memcpy(fields[1].data(), &label, sizeof label);
}

}  // namespace trainyard

TRAINYARD_DATASET(trainyard::Synthetic, "synthetic", "Gaussian clusters made on the fly, for tests and benchmarks.")
