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

/// Several ranks, which are threads of the test, each with an accelerator host and an optimizer. The test plays the
/// loader and the manager of all of them. A real collective connects the ranks.
class ManyRanks {
 public:
  /// `host` holds the parameters of every accelerator host, including the strategy, as JSON without braces. `optimizer`
  /// is a JSON object.
  ManyRanks(std::uint32_t ranks, const std::string& host, const std::string& optimizer, const DatasetInfo& data,
            std::uint64_t seed = 1);
  ~ManyRanks();

  /// Trains rank r on `batches[r]`; these lists must all be of the same length. Returns the losses of every rank.
  std::vector<std::vector<double>> train(const std::vector<std::vector<Batch>>& batches,
                                         std::uint64_t micro_batches = 1);

  /// Returns copies of the parameters that each rank announces: all of them, or its shard.
  std::vector<at::Tensor> parameters();

  /// Returns all parameters: those of rank 0, or the shards one after the other.
  at::Tensor whole_parameters();

  /// Runs `action` on the threads of all ranks at once and waits for all of them. Throws the error of the
  /// lowest-numbered rank that failed.
  void each(const std::function<void(std::uint32_t rank, MiniRun& run)>& action);

  /// Runs `action` in the same way, but returns the error text of every rank; it is empty for a rank without an error.
  std::vector<std::string> errors(const std::function<void(std::uint32_t rank, MiniRun& run)>& action);

 private:
  struct Rank;
  void submit(const std::function<void(Rank& rank)>& action);

  std::vector<std::unique_ptr<Rank>> ranks_;
};

/// Cuts every batch into `ranks` equal parts. Returns the parts as result[rank][batch].
std::vector<std::vector<Batch>> deal(const std::vector<Batch>& batches, std::uint32_t ranks);

}  // namespace trainyard::testing
