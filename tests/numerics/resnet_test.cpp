// SPDX-License-Identifier: Apache-2.0
// Compares the training of ResNet-18 on files in the format of CIFAR-10 with a training loop in plain LibTorch.
#include <torch/types.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

#include <fmt/format.h>

#include <map>
#include <string>

#include "datasets/cifar10/cifar10.h"
#include "datasets/testing/dataset_testing.h"
#include "tensors/bridge.h"
#include "tests/numerics/mini_run.h"

namespace trainyard::testing {
namespace {

constexpr int kSamples = 24;
constexpr int kBatch = 6;

/// Returns records that consist of a label and 3072 pixels, whose values depend on the label.
std::string cifar_records() {
  std::string bytes;
  for (int sample = 0; sample < kSamples; ++sample) {
    const int label = sample * 7 % 10;
    bytes += static_cast<char>(label);
    for (int i = 0; i < 3072; ++i) bytes += static_cast<char>((i * (label + 1) / 16 + sample * 31) % 256);
  }
  return bytes;
}

/// Returns the samples of the dataset in their order, in batches as a data loader makes them.
std::vector<Batch> batches_of(const Dataset& dataset) {
  std::vector<Batch> all;
  for (int first = 0; first < kSamples; first += kBatch) {
    Batch batch{.split = "train", .index = all.size(), .samples = kBatch};
    batch.tensors = {Tensor::empty(DType::kUInt8, {kBatch, 3, 32, 32}), Tensor::empty(DType::kInt64, {kBatch})};
    for (int i = 0; i < kBatch; ++i) {
      const std::vector<std::span<std::byte>> places{batch.tensors[0].buffer.bytes().subspan(3072u * i, 3072),
                                                     batch.tensors[1].buffer.bytes().subspan(8u * i, 8)};
      dataset.read("train", static_cast<std::uint64_t>(first + i), places);
    }
    all.push_back(std::move(batch));
  }
  return all;
}

/// ResNet-18 with the CIFAR stem, written as functions of tensors with torchvision's names.
class BareResnet {
 public:
  explicit BareResnet(const MiniRun& run) {
    for (const std::string& name : run.parameter_names()) {
      weights_[name] = run.parameter(name).set_requires_grad(true);
      leaves_.push_back(weights_[name]);
    }
  }
  const std::vector<at::Tensor>& leaves() const { return leaves_; }
  const at::Tensor& weight(const std::string& name) const { return weights_.at(name); }

  at::Tensor loss(const Batch& batch) {
    at::Tensor x = view_of(batch.tensors[0]).to(leaves_[0].scalar_type()) / 255;
    x = at::relu(unit(x, "conv1", "bn1", 1));
    for (int stage = 1; stage <= 4; ++stage) {
      for (int i = 0; i < 2; ++i) x = block(x, fmt::format("layer{}.{}.", stage, i), stage > 1 && i == 0 ? 2 : 1);
    }
    x = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return at::cross_entropy_loss(at::linear(x, weight("fc.weight"), weight("fc.bias")), view_of(batch.tensors[1]));
  }

 private:
  at::Tensor block(const at::Tensor& x, const std::string& name, std::int64_t stride) {
    const at::Tensor y = at::relu(unit(x, name + "conv1", name + "bn1", stride));
    const bool changes = stride != 1;
    const at::Tensor skip = changes ? unit(x, name + "downsample.0", name + "downsample.1", stride) : x;
    return at::relu(unit(y, name + "conv2", name + "bn2", 1) + skip);
  }

  /// Computes a convolution and its batch norm. The running means are not compared with those of the run, because
  /// training does not use them.
  at::Tensor unit(const at::Tensor& x, const std::string& convolution, const std::string& norm, std::int64_t stride) {
    const at::Tensor& kernel = weight(convolution + ".weight");
    const at::Tensor y = at::conv2d(x, kernel, {}, stride, kernel.size(2) / 2);
    const at::Tensor mean = at::zeros({y.size(1)}, y.options());
    const at::Tensor variance = at::ones({y.size(1)}, y.options());
    return at::batch_norm(y, weight(norm + ".weight"), weight(norm + ".bias"), mean, variance, /*training=*/true, 0.1,
                          1e-5, /*cudnn_enabled=*/true);
  }

  std::map<std::string, at::Tensor> weights_;
  std::vector<at::Tensor> leaves_;
};

/// Computes the losses of the run and of a loop in plain LibTorch, which begin with the same parameters.
void train_both(const std::string& precision, std::vector<double>& ours, std::vector<double>& bare_ones) {
  const TemporaryFolder folder;
  folder.write("data_batch_1.bin", cifar_records());
  Opened<Cifar10> dataset(fmt::format(R"({{"folder": "{}", "files": 1}})", folder.path("")));
  const std::vector<Batch> all = batches_of(*dataset);
  MiniRun run(fmt::format(R"("model": {{"plugin": "resnet"}}, "precision": "{}")", precision),
              R"({"rule": "sgd", "lr": 0.001, "momentum": 0.9})", dataset->info());
  BareResnet bare(run);
  torch::optim::SGD optimizer(bare.leaves(), torch::optim::SGDOptions(0.001).momentum(0.9));
  ours = run.train(all);
  for (const Batch& batch : all) {
    optimizer.zero_grad();
    const at::Tensor loss = bare.loss(batch);
    loss.backward();
    optimizer.step();
    bare_ones.push_back(loss.item<double>());
  }
}

TEST(ResnetRunTest, TrainingOnCifarFilesEqualsTheSameLoopWrittenBare) {
  std::vector<double> ours, bare;
  train_both("32-true", ours, bare);
  ASSERT_EQ(ours.size(), 4u);
  EXPECT_EQ(ours[0], bare[0]) << "nothing has been updated yet";
  // After the first step, the last bits of the parameters differ, because LibTorch's optimizer uses fused multiply-add
  // in single precision.
  for (std::size_t step = 1; step < 4; ++step) EXPECT_NEAR(ours[step], bare[step], 1e-3) << "step " << step + 1;
}

TEST(ResnetRunTest, InDoublePrecisionEveryBitIsTheSame) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "the processor has no fused multiply-add; LibTorch rounds twice";
#endif
  std::vector<double> ours, bare;
  train_both("64-true", ours, bare);
  EXPECT_EQ(ours, bare);
}

}  // namespace
}  // namespace trainyard::testing
