// SPDX-License-Identifier: Apache-2.0
// Compares the strategy `fsdp` (fully sharded data parallel) with `ddp` on the same data.
#include <ATen/TensorOperators.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tensors/bridge.h"
#include "tests/numerics/many_ranks.h"

namespace trainyard::testing {
namespace {

constexpr std::uint32_t kShards = 4;
constexpr int kInputs = 144, kOutputs = 7, kTokens = 11, kContext = 12;
constexpr const char* kSgdRule = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";
constexpr const char* kPerceptron = R"("model": {"plugin": "mlp", "hidden": [16, 24, 12], "activation": "tanh"})";
constexpr const char* kConvolutions =
    R"("model": {"plugin": "convnet", "channels": [4, 6], "hidden": 20, "dropout": 0})";
constexpr const char* kTransformer = R"("model": {"plugin": "gpt", "layers": 3, "heads": 2, "width": 32})";

bool is_text(const std::string& host) { return host.find("gpt") != std::string::npos; }

DatasetInfo data_for(const std::string& host) {
  DatasetInfo data = made_up_data(kInputs, is_text(host) ? kTokens : kOutputs);
  data.fields[0].shape = {12, 12};
  if (is_text(host)) data.fields = {{"input", 4, {kContext}}, {"target", 4, {kContext}}};
  return data;
}

std::vector<Batch> batches_for(const std::string& host, int count, std::int64_t samples) {
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i) {
    Batch batch = made_up_batch(static_cast<std::uint64_t>(i), samples, kInputs, kOutputs);
    if (is_text(host)) {
      batch.tensors = {Tensor::empty(DType::kInt64, {samples, kContext}),
                       Tensor::empty(DType::kInt64, {samples, kContext})};
      for (Tensor& tensor : batch.tensors) {
        const auto tokens = tensor.as<std::int64_t>();
        for (std::size_t t = 0; t < tokens.size(); ++t)
          tokens[t] = static_cast<std::int64_t>(t * t + i + t / 7) % kTokens;
      }
    }
    all.push_back(std::move(batch));
  }
  return all;
}

std::string with_strategy(const std::string& host, const std::string& strategy) {
  return host + R"(, "strategy": {"plugin": )" + strategy + "}";
}

double largest(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

/// The same run with the strategy `ddp` and with the strategy `fsdp`.
struct BothWays {
  explicit BothWays(const std::string& host, const std::string& fsdp = R"("fsdp")")
      : host(host),
        ddp(kShards, with_strategy(host, R"("ddp")"), kSgdRule, data_for(host)),
        fsdp(kShards, with_strategy(host, fsdp), kSgdRule, data_for(host)) {}

  void expect_equal(std::uint64_t micro_batches = 1) {
    const auto batches = deal(batches_for(host, 8, 24), kShards);
    const auto expected = ddp.train(batches, micro_batches);
    const auto found = fsdp.train(batches, micro_batches);
    for (std::uint32_t rank = 0; rank < kShards; ++rank) {
      ASSERT_EQ(found[rank].size(), expected[rank].size());
      for (std::size_t i = 0; i < found[rank].size(); ++i) EXPECT_NEAR(found[rank][i], expected[rank][i], 1e-6);
    }
    EXPECT_LE(largest(fsdp.whole_parameters(), ddp.whole_parameters()), 1e-6);
  }

  std::string host;
  ManyRanks ddp;
  ManyRanks fsdp;
};

TEST(FsdpTest, EqualsDdp) {
  for (const char* model : {kPerceptron, kConvolutions, kTransformer}) {
    for (const char* prefetch : {"true", "false"}) {
      SCOPED_TRACE(fmt::format("{} prefetch {}", model, prefetch));
      BothWays runs(model, fmt::format(R"("fsdp", "prefetch": {})", prefetch));
      runs.expect_equal();
    }
  }
}

TEST(FsdpTest, EqualsDdpToTwelveDigitsInDoublePrecision) {
  BothWays runs(std::string(kTransformer) + R"(, "precision": "64-true")");
  runs.expect_equal();
  EXPECT_LE(largest(runs.fsdp.whole_parameters(), runs.ddp.whole_parameters()), 1e-12);
}

TEST(FsdpTest, AccumulatesGradientsAndClipsTheirWholeNorm) {
  for (const char* model : {kPerceptron, kTransformer}) {
    BothWays runs(std::string(model) + R"(, "clip_norm": 0.05)");
    runs.expect_equal(2);
    double norm = 0;
    runs.ddp.each([&](std::uint32_t rank, MiniRun& run) {
      if (rank == 0) norm = run.metric("gradient_norm");
    });
    EXPECT_GT(norm, 0.05) << "or nothing is clipped here";
    runs.fsdp.each([&](std::uint32_t, MiniRun& run) { EXPECT_NEAR(run.metric("gradient_norm"), norm, 1e-6); });
  }
}

/// Returns the bytes of the parameters whose names begin with `prefix`, including padding.
std::uint64_t bytes_of(const ArenaInfo& info, const std::string& prefix) {
  std::uint64_t bytes = 0;
  for (const ArenaEntry& entry : info.entries) {
    if (!entry.name.starts_with(prefix)) continue;
    bytes += (checked_bytes(static_cast<DType>(entry.dtype), entry.shape) + 63) / 64 * 64;
  }
  return bytes;
}

TEST(FsdpTest, ARankKeepsItsPartAndHasMemoryForTheLargestStage) {
  for (const bool prefetch : {true, false}) {
    BothWays runs(kTransformer, fmt::format(R"("fsdp", "prefetch": {})", prefetch));
    runs.expect_equal();
    std::vector<std::uint64_t> kept(kShards);
    std::uint64_t all = 0;
    runs.fsdp.each([&](std::uint32_t rank, MiniRun& run) {
      const ArenaInfo& info = run.arena();
      const std::uint64_t stage = bytes_of(info, "transformer.h.0."), shared = bytes_of(info, "transformer.wte");
      kept[rank] = info.blocks[0].data.bytes();
      if (rank == 0) all = info.parameter_bytes;
      EXPECT_LE(kept[rank], info.parameter_bytes / kShards + 64);
      EXPECT_EQ(info.blocks[1].data.bytes(), kept[rank]);
      EXPECT_EQ(run.state("momentum_buffer").nbytes(), kept[rank]);
      EXPECT_EQ(run.metric("parameter_bytes"), kept[rank]);
      EXPECT_EQ(run.metric("gradient_bytes"), kept[rank]);
      EXPECT_EQ(run.metric("parameter_peak_bytes"), kept[rank] + shared + (prefetch ? 2 : 1) * stage);
      EXPECT_EQ(run.metric("gradient_peak_bytes"), kept[rank] + shared + stage);
    });
    EXPECT_EQ(kept[0] + kept[1] + kept[2] + kept[3], all);
  }
}

TEST(FsdpTest, EvaluatesAndPredictsAsDdpDoes) {
  for (const char* model : {kConvolutions, kPerceptron}) {
    BothWays runs(model);
    runs.expect_equal();
    const auto batches = deal(batches_for(model, 2, 24), kShards);
    std::vector<std::vector<Scalar>> expected(kShards);
    std::vector<at::Tensor> predicted(kShards);
    runs.ddp.each([&](std::uint32_t rank, MiniRun& run) {
      expected[rank] = run.evaluate(batches[rank]);
      predicted[rank] = view_of(run.predict(batches[rank][1]).tensors[1]).clone();
    });
    runs.fsdp.each([&](std::uint32_t rank, MiniRun& run) {
      const std::vector<Scalar> found = run.evaluate(batches[rank]);
      ASSERT_EQ(found.size(), 2u);
      for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(found[i].value, expected[rank][i].value, 1e-6);
      EXPECT_LE(largest(view_of(run.predict(batches[rank][1]).tensors[1]), predicted[rank]), 1e-6);
    });
    runs.expect_equal();
  }
}

TEST(FsdpTest, OneRankIsEnough) {
  MiniRun expected(kTransformer, kSgdRule, data_for(kTransformer));
  MiniRun found(with_strategy(kTransformer, R"("fsdp")"), kSgdRule, data_for(kTransformer));
  const auto batches = batches_for(kTransformer, 4, 6);
  expected.train(batches);
  found.train(batches);
  EXPECT_LE(largest(found.parameters(), expected.parameters()), 1e-6);
}

}  // namespace
}  // namespace trainyard::testing
