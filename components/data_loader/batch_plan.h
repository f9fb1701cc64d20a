#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/batch.h"

namespace trainyard {

/// In which order the samples of a split come.
enum class Sampling {
  kShuffle,      ///< Every sample once per epoch, in another order every epoch.
  kSequential,   ///< Every sample once per epoch, in the dataset's order.
  kReplacement,  ///< Independent uniform draws; an epoch is as many draws as there are samples.
};
Sampling sampling_from(std::string_view name);

/// Which samples make which batch of one split, for one rank. Pure arithmetic: any batch of any epoch is known at once.
///
/// The epoch's order is dealt to the ranks in turn, so over all ranks every sample comes exactly once. Every rank has
/// the same number of batches, so that ranks that work in step never wait for one that has none left. With `drop_last`
/// all of them are full, and what does not fill them is left out of this epoch; without it, the last batch of a rank
/// may be short, or empty if the rank has no rows left. Draws with replacement always fill their batches.
class BatchPlan {
 public:
  struct Settings {
    std::string split;
    std::uint64_t samples = 0;
    std::uint64_t batch_size = 1;
    std::uint64_t rank = 0;        ///< Which of the shards; < world_size.
    std::uint64_t world_size = 1;  ///< Shards that the samples are dealt to.
    Sampling sampling = Sampling::kSequential;
    bool drop_last = false;
    std::uint64_t seed = 0;
    bool random_transforms = false;  ///< Of no effect on the plan: passed on to whoever reads the samples.
  };

  /// `purpose` keeps the draws of training and evaluation on one split apart.
  BatchPlan(Settings settings, std::string_view purpose);

  const std::string& split() const { return settings_.split; }
  std::uint64_t samples() const { return settings_.samples; }
  Sampling sampling() const { return settings_.sampling; }
  bool random_transforms() const { return settings_.random_transforms; }

  /// Batches of one epoch: the same number on every rank.
  std::uint64_t batches() const { return batches_; }
  /// Samples in a batch of this rank; 0 if it has none left.
  std::uint64_t rows(std::uint64_t batch) const { return rows_of(batch, own_samples_); }
  /// Samples in a batch of all ranks together; never 0.
  std::uint64_t world_rows(std::uint64_t batch) const;

  /// The samples of a batch, in order.
  void samples_of(std::uint64_t epoch, std::uint64_t batch, std::vector<std::uint64_t>& samples) const;

  /// `cursor` moved on by `batches`, across epochs, with the batch inside its epoch; needs batches() > 0.
  LoaderCursor advance(LoaderCursor cursor, std::uint64_t batches) const;

 private:
  std::uint64_t rows_of(std::uint64_t batch, std::uint64_t rank_samples) const;

  Settings settings_;
  std::uint64_t key_;
  std::uint64_t batches_;
  // Of an epoch. The ranks that come first may have one more than the others.
  std::uint64_t own_samples_;
  std::uint64_t fewest_samples_;  ///< Of any rank.
  std::uint64_t larger_ranks_;    ///< Ranks that have one sample more than that.
};

}  // namespace trainyard
