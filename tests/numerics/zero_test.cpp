// SPDX-License-Identifier: Apache-2.0
// Compares zero1 and zero2 with ddp: dividing the state must not change the results.
#include <torch/types.h>

// Needs the names of torch/types.h and does not include it.
#include <torch/csrc/jit/api/module.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "core/testing/temporary_folder.h"
#include "messages/arena.h"
#include "tests/numerics/many_ranks.h"

namespace trainyard::testing {
namespace {

constexpr int kFeatures = 20, kClasses = 7;
constexpr std::uint32_t kRanks = 4;
constexpr const char* kMlp = R"("model": {"plugin": "mlp", "hidden": [16, 24]})";
constexpr const char* kAdamW = R"({"rule": "adamw", "lr": 0.01, "no_decay": ["*.bias"]})";

std::vector<Batch> whole_batches(int count) {
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i) all.push_back(made_up_batch(static_cast<std::uint64_t>(i), 32, kFeatures, kClasses));
  return all;
}

/// Returns the parameters of an accelerator host as JSON. `more` contains additional parameters and begins with a
/// comma.
std::string host_with(const std::string& strategy, double bucket_mb, const std::string& more = "",
                      const std::string& model = kMlp) {
  return fmt::format(R"({}, "strategy": {{"plugin": "{}", "bucket_mb": {}}}{})", model, strategy, bucket_mb, more);
}

struct Trained {
  at::Tensor parameters;
  std::vector<std::vector<double>> losses;
  std::vector<double> evaluated;  ///< The results of every rank, on the same batches.
};

Trained trained(const std::string& host, const std::vector<std::vector<Batch>>& batches,
                std::uint64_t micro_batches = 1) {
  ManyRanks ranks(kRanks, host, kAdamW, made_up_data(kFeatures, kClasses));
  Trained result;
  result.losses = ranks.train(batches, micro_batches);
  result.parameters = ranks.whole_parameters();
  result.evaluated.resize(kRanks);
  ranks.each(
      [&](std::uint32_t rank, MiniRun& run) { result.evaluated[rank] = run.evaluate(whole_batches(2)).front().value; });
  return result;
}

Trained trained(const std::string& host, std::uint64_t micro_batches = 1) {
  return trained(host, deal(whole_batches(20), kRanks), micro_batches);
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

void expect_equal(const Trained& got, const Trained& wanted, const std::string& what) {
  EXPECT_TRUE(got.parameters.equal(wanted.parameters))
      << what << ": they differ by " << largest_difference(got.parameters, wanted.parameters);
  EXPECT_EQ(got.losses, wanted.losses) << what;
  EXPECT_EQ(got.evaluated, wanted.evaluated) << what;
}

class ZeroTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Stages, ZeroTest, ::testing::Values("zero1", "zero2"));

TEST_P(ZeroTest, EqualsDdpBitForBitWhateverTheBuckets) {
  const Trained wanted = trained(host_with("ddp", 0.002));
  for (const double bucket_mb : {0.0, 0.0001, 0.002, 25.0}) {
    expect_equal(trained(host_with(GetParam(), bucket_mb)), wanted, fmt::format("buckets of {} MiB", bucket_mb));
  }
}

TEST_P(ZeroTest, EqualsDdpBitForBitInEveryPrecision) {
  for (const char* precision : {"64-true", "bf16-true", "bf16-mixed", "16-mixed"}) {
    const std::string more = fmt::format(R"(, "precision": "{}", "loss_scale": 1e9)", precision);
    expect_equal(trained(host_with(GetParam(), 0.002, more)), trained(host_with("ddp", 0.002, more)), precision);
  }
}

TEST_P(ZeroTest, ClipsByTheNormOfAllGradients) {
  for (const char* clip : {R"(, "clip_norm": 0.05)", R"(, "clip_value": 0.001)"}) {
    const Trained got = trained(host_with(GetParam(), 0.002, clip));
    const Trained wanted = trained(host_with("ddp", 0.002, clip));
    EXPECT_LE(largest_difference(got.parameters, wanted.parameters), 1e-6) << clip;
  }
}

TEST_P(ZeroTest, AccumulatesMicroBatches) {
  const Trained got = trained(host_with(GetParam(), 0.002), 3);
  const Trained wanted = trained(host_with("ddp", 0.002), 3);
  EXPECT_LE(largest_difference(got.parameters, wanted.parameters), GetParam() == std::string("zero1") ? 0 : 1e-6);
}

/// Returns batches. In every second batch, only the first three ranks have samples.
std::vector<std::vector<Batch>> uneven_batches() {
  std::vector<std::vector<Batch>> dealt = deal(whole_batches(20), kRanks);
  for (std::size_t i = 0; i < dealt[0].size(); i += 2) {
    dealt[3][i] = rows(dealt[3][i], 0, 0);
    for (auto& of_rank : dealt) of_rank[i].world_samples = 24;
  }
  return dealt;
}

TEST_P(ZeroTest, RanksWithoutSamplesTakePart) {
  for (const std::uint64_t micro_batches : {1, 2}) {
    const Trained got = trained(host_with(GetParam(), 0.002), uneven_batches(), micro_batches);
    const Trained wanted = trained(host_with("ddp", 0.002), uneven_batches(), micro_batches);
    EXPECT_LE(largest_difference(got.parameters, wanted.parameters), micro_batches == 1 ? 0 : 1e-6);
  }
}

TEST_P(ZeroTest, ASingleRankHasEverything) {
  MiniRun one(host_with(GetParam(), 25), kAdamW, made_up_data(kFeatures, kClasses));
  MiniRun wanted(std::string(kMlp), kAdamW, made_up_data(kFeatures, kClasses));
  EXPECT_EQ(one.train(whole_batches(6), 2), wanted.train(whole_batches(6), 2));
  EXPECT_TRUE(one.parameters().equal(wanted.parameters()));
}

std::uint64_t bytes_of(const std::vector<ArenaBlock>& blocks) {
  std::uint64_t bytes = 0;
  for (const ArenaBlock& block : blocks) bytes += block.data.bytes();
  return bytes;
}

/// The measured memory of a rank with a given strategy.
struct Held {
  std::uint64_t state = 0, parameters = 0, gradients = 0, peak_gradients = 0;
  std::uint64_t whole = 0;  ///< The size of all parameters, which is also that of all gradients.
};

std::vector<Held> held_by(const std::string& strategy) {
  const std::string model = R"("model": {"plugin": "mlp", "hidden": [64, 64, 64, 64, 64, 64, 64, 64]})";
  ManyRanks ranks(kRanks, host_with(strategy, 0.004, "", model), kAdamW, made_up_data(kFeatures, kClasses));
  ranks.train(deal(whole_batches(2), kRanks));
  std::vector<Held> all(kRanks);
  ranks.each([&](std::uint32_t rank, MiniRun& run) {
    const auto metric = [&](const char* name) { return static_cast<std::uint64_t>(run.metric(name)); };
    all[rank] = {.state = bytes_of(run.rig().received<OptimizerState>("optimizer_state").at(0)->blocks),
                 .parameters = metric("parameter_bytes"),
                 .gradients = metric("gradient_bytes"),
                 .peak_gradients = metric("gradient_peak_bytes"),
                 .whole = run.arena().parameter_bytes};
  });
  return all;
}

constexpr std::uint64_t kPadding = 64;

TEST(ZeroMemoryTest, Zero1SharesTheStateOfTheOptimizerOut) {
  std::uint64_t together = 0;
  const std::vector<Held> all = held_by("zero1");
  for (const Held& held : all) {
    together += held.state;
    EXPECT_LE(held.state, 2 * (held.whole / kRanks + kPadding));
    EXPECT_EQ(held.gradients, held.whole);
    EXPECT_EQ(held.parameters, held.whole);
  }
  EXPECT_EQ(together, 2 * all[0].whole);
}

TEST(ZeroMemoryTest, Zero2SharesTheGradientsOut) {
  for (const Held& held : held_by("zero2")) {
    EXPECT_LE(held.state, 2 * (held.whole / kRanks + kPadding));
    EXPECT_LE(held.gradients, held.whole / kRanks + kPadding);
    // The peak includes gradients that are being reduced: two pieces, and the gradients of one layer.
    EXPECT_LE(held.peak_gradients, held.whole / kRanks + kPadding + 2 * 4096 + 64 * 64 * 4 + 64 * 40);
    EXPECT_LT(held.peak_gradients, held.whole / 2);
    EXPECT_EQ(held.parameters, held.whole);
  }
}

/// Saves a TorchScript module with a parameter that only some inputs use, and a parameter that is never used.
void save_picky(const std::string& path) {
  torch::jit::Module module("Picky");
  const at::Tensor weight = at::ones({kFeatures, kClasses}).cumsum(0).mul(0.01);
  for (const char* name : {"never", "always", "rarely"}) {
    module.register_parameter(name, weight.clone().set_requires_grad(true), /*is_buffer=*/false);
  }
  module.define(R"(
def forward(self, x):
    y = torch.matmul(x, self.always)
    if bool(x[0, 0] > 0.15):
        y = y + torch.matmul(x, self.rarely)
    return y
)");
  module.save(path);
}

TEST_P(ZeroTest, GradientsThatOnlySomeRanksHaveAreAveragedWithZeros) {
  const TemporaryFolder folder;
  save_picky(folder.path("picky.pt"));
  const std::string model =
      fmt::format(R"("model": {{"plugin": "torchscript", "path": "{}", "trust": true}})", folder.path("picky.pt"));
  int some = 0;
  for (const Batch& batch : whole_batches(20)) {
    int using_it = 0;
    for (const auto& part : deal({batch}, kRanks)) using_it += part[0].tensors[0].as<float>()[0] > 0.15F ? 1 : 0;
    some += using_it > 0 && using_it < static_cast<int>(kRanks) ? 1 : 0;
  }
  ASSERT_GT(some, 5) << "the data must make ranks differ";
  for (const double bucket_mb : {0.0, 0.0001}) {
    expect_equal(trained(host_with(GetParam(), bucket_mb, "", model)), trained(host_with("ddp", bucket_mb, "", model)),
                 fmt::format("buckets of {} MiB", bucket_mb));
  }
}

}  // namespace
}  // namespace trainyard::testing
