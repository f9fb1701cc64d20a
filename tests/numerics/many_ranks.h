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

/// Several ranks, each with an accelerator host and an optimizer on a separate thread of the test. The test itself
/// sends the messages of the data loaders and of the strategy manager. A real collective connects the ranks.
class ManyRanks {
 public:
  /// `host` contains the parameters of every accelerator host, including the strategy, as JSON without braces.
  /// `optimizer` is a JSON object with the parameters of every optimizer.
  ManyRanks(std::uint32_t ranks, const std::string& host, const std::string& optimizer, const DatasetInfo& data,
            std::uint64_t seed = 1);
  ~ManyRanks();

  /// Trains rank r on `batches[r]`. All these lists must have the same length. Returns the losses of every rank.
  std::vector<std::vector<double>> train(const std::vector<std::vector<Batch>>& batches,
                                         std::uint64_t micro_batches = 1);

  /// Returns copies of the parameters that each rank holds: all parameters, or only its shard.
  std::vector<at::Tensor> parameters();

  /// Returns all parameters as one tensor: the parameters of rank 0 if every rank has all of them, otherwise the shards
  /// one after another.
  at::Tensor whole_parameters();

  /// Runs `action` on the threads of all ranks simultaneously, and waits until all ranks have finished. Throws the
  /// error of the lowest-numbered rank that failed.
  void each(const std::function<void(std::uint32_t rank, MiniRun& run)>& action);

  /// Runs `action` like each(), but returns the text of every rank's error, which is empty for a rank without an error.
  std::vector<std::string> errors(const std::function<void(std::uint32_t rank, MiniRun& run)>& action);

 private:
  struct Rank;
  void submit(const std::function<void(Rank& rank)>& action);

  std::vector<std::unique_ptr<Rank>> ranks_;
};

/// Divides every batch into `ranks` equal parts. Returns the parts as result[rank][batch].
std::vector<std::vector<Batch>> deal(const std::vector<Batch>& batches, std::uint32_t ranks);

}  // namespace trainyard::testing
