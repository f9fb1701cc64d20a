// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/batch_plan.h"

#include <algorithm>
#include <utility>

#include "components/data_loader/permutation.h"
#include "core/random/random.h"

namespace trainyard {

BatchPlan::BatchPlan(Settings settings, Purpose purpose)
    : settings_(std::move(settings)), key_(random_key(random_key(settings_.seed, name_of(purpose)), settings_.split)) {
  const auto& [split, samples, size, rank, world, sampling, drop_last, seed, random_transforms] = settings_;
  if (sampling == Sampling::kReplacement) {
    batches_ = samples == 0 ? 0 : std::max<std::uint64_t>(1, samples / world / size);
  } else if (drop_last) {
    batches_ = samples / world / size;
  } else {
    const std::uint64_t most_samples = (samples + world - 1) / world;
    batches_ = (most_samples + size - 1) / size;
  }
  const bool all_full = drop_last || sampling == Sampling::kReplacement;
  fewest_samples_ = all_full ? batches_ * size : samples / world;
  larger_ranks_ = all_full ? 0 : samples % world;
  own_samples_ = fewest_samples_ + (rank < larger_ranks_ ? 1 : 0);
}

std::uint64_t BatchPlan::rows_of(std::uint64_t batch, std::uint64_t rank_samples) const {
  // Draws may continue beyond the end of an epoch.
  if (settings_.sampling == Sampling::kReplacement) return settings_.batch_size;
  const std::uint64_t begin = std::min(batch * settings_.batch_size, rank_samples);
  return std::min(settings_.batch_size, rank_samples - begin);
}

std::uint64_t BatchPlan::world_rows(std::uint64_t batch) const {
  return larger_ranks_ * rows_of(batch, fewest_samples_ + 1) +
         (settings_.world_size - larger_ranks_) * rows_of(batch, fewest_samples_);
}

void BatchPlan::samples_of(std::uint64_t epoch, std::uint64_t batch, std::vector<std::uint64_t>& samples) const {
  samples.resize(rows(batch));
  const std::uint64_t key = random_bits(epoch, key_);
  const auto place = [&](std::size_t row) {
    return settings_.rank + settings_.world_size * (batch * settings_.batch_size + row);
  };
  if (settings_.sampling == Sampling::kShuffle) {
    const Permutation shuffled(settings_.samples, key);
    for (std::size_t row = 0; row < samples.size(); ++row) samples[row] = shuffled(place(row));
  } else if (settings_.sampling == Sampling::kSequential) {
    for (std::size_t row = 0; row < samples.size(); ++row) samples[row] = place(row);
  } else {
    for (std::size_t row = 0; row < samples.size(); ++row) {
      samples[row] = random_below(random_bits(place(row), key), settings_.samples);
    }
  }
}

LoaderCursor BatchPlan::advance(LoaderCursor cursor, std::uint64_t batches) const {
  cursor.batch += batches;
  return {cursor.epoch + cursor.batch / batches_, cursor.batch % batches_};
}

}  // namespace trainyard
