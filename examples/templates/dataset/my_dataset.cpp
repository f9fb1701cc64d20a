// SPDX-License-Identifier: Apache-2.0
#include "datasets/my_dataset/my_dataset.h"

#include <cstring>
#include <vector>

#include "core/random/random.h"
#include "messages/dtype.h"

namespace example {
namespace {

constexpr std::uint64_t kValidateSamples = 1000;

}  // namespace

std::uint64_t MyDataset::samples(std::string_view split) const {
  return split == "validate" ? kValidateSamples : static_cast<std::uint64_t>(*samples_);
}

trainyard::DatasetInfo MyDataset::info() const {
  trainyard::DatasetInfo info;
  info.dataset = "my_dataset";
  info.splits = {{"train", samples("train")}, {"validate", samples("validate")}};
  info.fields = {{"input", static_cast<std::uint8_t>(trainyard::DType::kFloat32), {*features_}},
                 {"target", static_cast<std::uint8_t>(trainyard::DType::kInt64), {}}};
  info.classes = 2;
  return info;
}

void MyDataset::read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const {
  check_sample(split, index, samples(split));
  const std::int64_t target = static_cast<std::int64_t>(index % 2);
  // The random numbers depend only on the key and a counter, so every run can be repeated.
  const std::uint64_t key = trainyard::random_key(context().seed, split, index);
  for (std::size_t i = 0; i < static_cast<std::size_t>(*features_); ++i) {
    const double noise = 2 * trainyard::random_unit(trainyard::random_bits(i, key)) - 1;
    const auto value = static_cast<float>((target == 0 ? -1 : 1) + 2 * noise);
    std::memcpy(fields[0].data() + i * sizeof value, &value, sizeof value);
  }
  std::memcpy(fields[1].data(), &target, sizeof target);
}

}  // namespace example

TRAINYARD_DATASET(example::MyDataset, "my_dataset", "Made-up samples of two classes.")
