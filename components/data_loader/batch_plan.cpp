// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/batch_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "components/data_loader/permutation.h"
#include "core/random/random.h"

namespace trainyard {

BatchPlan::BatchPlan(Settings settings, Purpose purpose)
    : settings_(std::move(settings)), key_(random_key(random_key(settings_.seed, name_of(purpose)), settings_.split)) {
  const auto& [split, samples, size, rank, world, sampling, drop_last, seed, random_transforms] = settings_;
  // Both factors are parameters that users can set, so the product may overflow.
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  info_ = {.name = split,
           .samples = samples,
           .batch_samples = size > most / world ? most : size * world,
           .short_last = !all_full()};
  info_.batches = samples / info_.batch_samples + (info_.short_last && samples % info_.batch_samples != 0 ? 1 : 0);
  // With replacement, a batch can have more rows than there are samples.
  if (sampling == Sampling::kReplacement && samples > 0) info_.batches = std::max<std::uint64_t>(1, info_.batches);
}

std::uint64_t BatchPlan::rows(std::uint64_t place) const {
  if (all_full()) return settings_.batch_size;
  const std::uint64_t left = settings_.samples - std::min(settings_.samples, place);
  const std::uint64_t own = left / settings_.world_size + (settings_.rank < left % settings_.world_size ? 1 : 0);
  return std::min(settings_.batch_size, own);
}

std::uint64_t BatchPlan::world_rows(std::uint64_t place) const {
  if (all_full()) return info_.batch_samples;
  return std::min(info_.batch_samples, settings_.samples - std::min(settings_.samples, place));
}

void BatchPlan::samples_of(const LoaderCursor& cursor, std::vector<std::uint64_t>& samples) const {
  samples.resize(rows(cursor.samples));
  const std::uint64_t key = random_bits(cursor.epoch, key_);
  const auto place = [&](std::size_t row) { return cursor.samples + settings_.rank + settings_.world_size * row; };
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
  const std::uint64_t left = batches_from(cursor.samples);
  if (batches < left) return {cursor.epoch, cursor.samples + batches * info_.batch_samples};
  batches -= left;
  return {cursor.epoch + 1 + batches / info_.batches, batches % info_.batches * info_.batch_samples};
}

}  // namespace trainyard
