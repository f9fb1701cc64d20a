// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "messages/order.h"
#include "messages/run_state.h"
#include "tests/numerics/many_ranks.h"

namespace trainyard::testing {

// A small problem for the tests of strategies: they train a perceptron on generated batches, of which every rank gets
// different rows.
inline constexpr int kFeatures = 20, kClasses = 7;
inline constexpr std::uint32_t kRanks = 4;

/// Returns the parameters of an accelerator host as JSON without the enclosing braces. `strategy` is a JSON value;
/// `more` is appended to the text.
inline std::string mlp_with(const std::string& strategy, const std::string& more = "") {
  return fmt::format(R"("model": {{"plugin": "mlp", "hidden": [16]}}, "strategy": {}{})", strategy, more);
}

inline std::vector<Batch> whole_batches(std::uint64_t first, std::uint64_t count) {
  std::vector<Batch> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(made_up_batch(first + i, 32, kFeatures, kClasses));
  return all;
}

/// Returns `count` batches, starting with number `first`, divided among the ranks as result[rank][batch].
inline std::vector<std::vector<Batch>> dealt_batches(std::uint64_t first, std::uint64_t count) {
  return deal(whole_batches(first, count), kRanks);
}

inline ManyRanks ranks_with(const std::string& strategy, const std::string& optimizer, const std::string& more = "") {
  return {kRanks, mlp_with(strategy, more), optimizer, made_up_data(kFeatures, kClasses)};
}

inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

inline at::Tensor mean_of(const std::vector<at::Tensor>& all) { return at::stack(all).mean(0); }

/// Returns true if all tensors are bit-identical.
inline bool all_equal(const std::vector<at::Tensor>& all) {
  return std::ranges::all_of(all, [&](const at::Tensor& one) { return one.equal(all[0]); });
}

/// Trains for `steps` steps with a single order, and returns the parameters. Checks that they are the same on all
/// ranks.
inline at::Tensor trained(const std::string& strategy, const std::string& optimizer, std::uint64_t steps,
                          const std::string& more = "") {
  ManyRanks ranks = ranks_with(strategy, optimizer, more);
  ranks.train(dealt_batches(0, steps));
  const std::vector<at::Tensor> all = ranks.parameters();
  EXPECT_TRUE(all_equal(all)) << strategy;
  return all[0];
}

/// Sends every rank the order to make a checkpoint, waits for its snapshot, and answers as the checkpoint writer would
/// when it has copied the memory.
inline void take_snapshot(ManyRanks& ranks) {
  ranks.each([](std::uint32_t, MiniRun& run) {
    run.rig().send("/orders", Order{.id = 1000, .kind = OrderKind::kCheckpoint, .reason = "test"});
    run.rig().run_until([&] { return !run.rig().received<Snapshot>("snapshot").empty(); });
    run.rig().send("snapshot_taken", SnapshotTaken{});
    run.rig().run_until_idle();
  });
}

}  // namespace trainyard::testing
