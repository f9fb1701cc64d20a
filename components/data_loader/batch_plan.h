// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/words.h"

namespace trainyard {

/// The order in which the samples of a split are read.
enum class Sampling : std::uint8_t {
  kShuffle,     ///< Every sample is read at most once in an epoch, in an order that differs from epoch to epoch.
  kSequential,  ///< Every sample is read at most once in an epoch, in the order of the dataset.
  /// Samples are drawn independently and uniformly, so a sample can be read several times. An epoch has the same number
  /// of full batches as without replacement, but at least one.
  kReplacement,
};
constexpr auto words_of(Sampling) { return words("way of sampling", "shuffle", "sequential", "replacement"); }

/// The purpose for which batches are read. Training and evaluation use independent random numbers, even on the same
/// split.
enum class Purpose : std::uint8_t { kTrain, kEvaluate };
constexpr auto words_of(Purpose) { return words("purpose", "train", "evaluate"); }

/// Determines which samples of a split are in each batch of a rank. The samples of any batch of any epoch can be
/// computed directly, without computing the batches before it.
///
/// An epoch is a list of all samples, whose order depends only on the seed and the epoch. In each round, every rank
/// gets one batch: the samples of the next range of the list are distributed over the ranks one by one. All batches of
/// a round have the same place, which is the number of samples in the list before this range. So training can continue
/// at any place, even with another number of ranks or another batch size: it continues with the first sample that has
/// not been used.
///
/// Every rank has the same number of batches, because all ranks must take part in every step. With `drop_last`, all
/// batches are full, and the remaining samples are skipped in this epoch. Without `drop_last`, the last batch of a rank
/// can be smaller, or empty if the rank has no samples left. With replacement, all batches are full.
class BatchPlan {
 public:
  struct Settings {
    std::string split;
    std::uint64_t samples = 0;
    std::uint64_t batch_size = 1;
    std::uint64_t rank = 0;  ///< Which part of the samples to read, counted from 0. Normally the number of the rank.
    std::uint64_t world_size = 1;  ///< The number of parts into which the samples are divided.
    Sampling sampling = Sampling::kSequential;
    bool drop_last = false;
    std::uint64_t seed = 0;
    bool random_transforms = false;  ///< True if random transforms draw numbers. Does not affect the plan.
  };

  /// Makes the plan of a split.
  BatchPlan(Settings settings, Purpose purpose);

  const std::string& split() const { return settings_.split; }
  std::uint64_t samples() const { return settings_.samples; }
  Sampling sampling() const { return settings_.sampling; }
  bool random_transforms() const { return settings_.random_transforms; }

  /// Returns the description of the split for DatasetInfo.
  const SplitInfo& info() const { return info_; }
  /// Returns the number of batches of one epoch, which is the same on every rank.
  std::uint64_t batches() const { return info_.batches; }
  /// Returns the number of batches from `place` to the end of the epoch.
  std::uint64_t batches_from(std::uint64_t place) const { return info_.batches_from(place); }
  /// Returns the index of the batch at `place` among the batches of its epoch, assuming that all of them have the batch
  /// size of this plan.
  std::uint64_t index_of(std::uint64_t place) const { return place / info_.batch_samples; }
  /// Returns the number of samples in this rank's batch at `place`; 0 if the rank has no samples left.
  std::uint64_t rows(std::uint64_t place) const;
  /// Returns the number of samples in the batches of all ranks together at `place`.
  std::uint64_t world_rows(std::uint64_t place) const;

  /// Sets `samples` to the indices of the samples in this rank's batch at `cursor`, in order.
  void samples_of(const LoaderCursor& cursor, std::vector<std::uint64_t>& samples) const;

  /// Returns the position that is `batches` batches after `cursor`. If the epoch has no batch at that position, the
  /// result is in a later epoch. So there is always a batch at the returned position. Requires batches() > 0.
  LoaderCursor advance(LoaderCursor cursor, std::uint64_t batches) const;

 private:
  bool all_full() const { return settings_.drop_last || settings_.sampling == Sampling::kReplacement; }

  Settings settings_;
  std::uint64_t key_;
  SplitInfo info_;
};

}  // namespace trainyard
