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
  /// Draws are independent and uniform. An epoch has as many full batches as the samples would fill, but at least one.
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
/// An epoch is a list of samples, and the order of the list depends only on the seed and the epoch. The batch of all
/// ranks together is the next section of this list; its samples are dealt to the ranks in turn. The batch is identified
/// by its place: the number of samples before it in the list. Training can therefore continue at any place with any
/// number of ranks and any batch size, and each sample is used exactly once.
///
/// Every rank has the same number of batches, so that no rank has to wait for another rank that has no batches left.
/// With `drop_last` all batches are full, and the remaining samples are skipped in this epoch. Without it, the last
/// batch of a rank may be short, or empty if the rank has no samples left. Draws with replacement always fill their
/// batches.
class BatchPlan {
 public:
  struct Settings {
    std::string split;
    std::uint64_t samples = 0;
    std::uint64_t batch_size = 1;
    std::uint64_t rank = 0;        ///< The shard to read; < world_size.
    std::uint64_t world_size = 1;  ///< The number of shards into which the samples are divided.
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
  /// Returns the number of batches that remain in an epoch at a place.
  std::uint64_t batches_from(std::uint64_t place) const { return info_.batches_from(place); }
  /// Returns the index of the batch at a place, assuming that all earlier batches had the batch size of this plan.
  std::uint64_t index_of(std::uint64_t place) const { return place / info_.batch_samples; }
  /// Returns the number of samples in this rank's batch at a place; 0 if the rank has no samples left.
  std::uint64_t rows(std::uint64_t place) const;
  /// Returns the number of samples in the batch of all ranks together at `place`.
  std::uint64_t world_rows(std::uint64_t place) const;

  /// Sets `samples` to the samples of this rank's batch at the cursor, in order.
  void samples_of(const LoaderCursor& cursor, std::vector<std::uint64_t>& samples) const;

  /// Returns `cursor` moved forward by `batches` batches, into later epochs if necessary, so that there is a batch at
  /// the result. batches() must be > 0.
  LoaderCursor advance(LoaderCursor cursor, std::uint64_t batches) const;

 private:
  bool all_full() const { return settings_.drop_last || settings_.sampling == Sampling::kReplacement; }

  Settings settings_;
  std::uint64_t key_;
  SplitInfo info_;
};

}  // namespace trainyard
