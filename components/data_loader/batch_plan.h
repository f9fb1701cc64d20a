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
  kShuffle,     ///< No sample is read twice in an epoch, and every epoch has a different order.
  kSequential,  ///< No sample is read twice in an epoch, and the samples are in the order of the dataset.
  /// Samples are drawn independently and uniformly. An epoch has as many full batches as the samples would fill, but at
  /// least one.
  kReplacement,
};
constexpr auto words_of(Sampling) { return words("way of sampling", "shuffle", "sequential", "replacement"); }

/// The purpose for which batches are read. Training and evaluation use independent random numbers, even on the same
/// split.
enum class Purpose : std::uint8_t { kTrain, kEvaluate };
constexpr auto words_of(Purpose) { return words("purpose", "train", "evaluate"); }

/// The division of one split into batches, for one rank. The samples of any batch of any epoch can be computed
/// directly.
///
/// An epoch is a list of samples, whose order depends only on the seed and the epoch. The batch of all ranks together
/// is a range of this list, whose samples are dealt to the ranks one by one. The batch is identified by its place,
/// which is the number of samples before it in the list. So training can continue at any place with any number of ranks
/// and any batch size, and each sample is used exactly once.
///
/// Every rank has the same number of batches, so that no rank has to wait for a rank that has no batches left. With
/// `drop_last` all batches are full, and the samples left over are skipped in this epoch. Without `drop_last`, the last
/// batch of a rank can be short, or empty if the rank has no samples left. With replacement, all batches are full.
class BatchPlan {
 public:
  struct Settings {
    std::string split;
    std::uint64_t samples = 0;
    std::uint64_t batch_size = 1;
    std::uint64_t rank = 0;        ///< The number of the shard to read, which is smaller than `world_size`.
    std::uint64_t world_size = 1;  ///< The number of shards to which the samples are dealt.
    Sampling sampling = Sampling::kSequential;
    bool drop_last = false;
    std::uint64_t seed = 0;
    bool random_transforms = false;  ///< Does not affect the plan; it is passed on to the SampleReader.
  };

  /// Makes the plan of a split. Plans with different `purpose` use independent random numbers, even for the same split.
  BatchPlan(Settings settings, Purpose purpose);

  const std::string& split() const { return settings_.split; }
  std::uint64_t samples() const { return settings_.samples; }
  Sampling sampling() const { return settings_.sampling; }
  bool random_transforms() const { return settings_.random_transforms; }

  /// Returns the description of the split for DatasetInfo.
  const SplitInfo& info() const { return info_; }
  /// Returns the number of batches of one epoch, which is the same on every rank.
  std::uint64_t batches() const { return info_.batches; }
  /// Returns the number of batches that are left in an epoch from `place` on.
  std::uint64_t batches_from(std::uint64_t place) const { return info_.batches_from(place); }
  /// Returns the index of the batch that begins at `place`, provided that all earlier batches had the batch size of
  /// this plan.
  std::uint64_t index_of(std::uint64_t place) const { return place / info_.batch_samples; }
  /// Returns the number of samples in this rank's batch at `place`; 0 if the rank has no samples left.
  std::uint64_t rows(std::uint64_t place) const;
  /// Returns the number of samples in the batch of all ranks together at `place`.
  std::uint64_t world_rows(std::uint64_t place) const;

  /// Sets `samples` to the samples of this rank's batch at the cursor, in order.
  void samples_of(const LoaderCursor& cursor, std::vector<std::uint64_t>& samples) const;

  /// Returns the position that is `batches` batches after `cursor`, if necessary in a later epoch. There is always a
  /// batch at this position. Requires batches() > 0.
  LoaderCursor advance(LoaderCursor cursor, std::uint64_t batches) const;

 private:
  bool all_full() const { return settings_.drop_last || settings_.sampling == Sampling::kReplacement; }

  Settings settings_;
  std::uint64_t key_;
  SplitInfo info_;
};

}  // namespace trainyard
