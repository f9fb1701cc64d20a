// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/numerics/mini_run.h"

namespace trainyard::testing {

/// Several ranks as threads of the test, each with an accelerator host and an optimizer; the test is loader and manager
/// of all. What the ranks exchange goes through a real collective.
class ManyRanks {
 public:
  /// `host`: parameters of every accelerator host, as JSON without braces, with the strategy among them.
  ManyRanks(std::uint32_t ranks, const std::string& host, const std::string& optimizer, const DatasetInfo& data,
            std::uint64_t seed = 1);
  ~ManyRanks();

  /// Rank r trains on batches[r], of which all have as many; returns the losses of every rank.
  std::vector<std::vector<double>> train(const std::vector<std::vector<Batch>>& batches,
                                         std::uint64_t micro_batches = 1);

  /// Copies of the parameters that each rank announces: all of them, or its shard.
  std::vector<at::Tensor> parameters();

  /// Returns all parameters: those of rank 0, or the shards one after the other.
  at::Tensor whole_parameters();

  /// Runs on every rank's thread at the same time, and waits for all; throws the error of the first rank that failed.
  void each(const std::function<void(std::uint32_t rank, MiniRun& run)>& action);

  /// Returns the errors of all ranks instead; empty texts for those that had none.
  std::vector<std::string> errors(const std::function<void(std::uint32_t rank, MiniRun& run)>& action);

 private:
  struct Rank;
  void submit(const std::function<void(Rank& rank)>& action);

  std::vector<std::unique_ptr<Rank>> ranks_;
};

/// Cuts every batch into as many equal parts as there are ranks: result[rank][batch].
std::vector<std::vector<Batch>> deal(const std::vector<Batch>& batches, std::uint32_t ranks);

}  // namespace trainyard::testing
