// SPDX-License-Identifier: Apache-2.0
// The baseline: training loops written with LibTorch alone, that is, with torch::nn and torch::optim, over batches that
// are already in memory. Prints one JSON object: the median time of a step over several runs, by the clock and in
// processor time, which other programs on a busy machine disturb less.
//
//    OPENBLAS_NUM_THREADS=1 trainyard_benchmark_bare_loop [mlp|gpt] [steps] [runs]
//
// MLP: 784-128-10, ReLU, batch 64, AdamW, as in launch/files/mlp.toml. GPT: nanoGPT's CPU setting (4 layers, 4 heads,
// 128 wide, context 64, batch 12, 65 characters), AdamW with decay on matrices, gradients clipped to norm 1. Malloc
// keeps freed memory, as the cpu accelerator makes it do, and there is one thread.
#include <malloc.h>
#include <torch/torch.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kLayers = 4, kHeads = 4, kWidth = 128, kContext = 64, kBatch = 12, kVocabulary = 65;
constexpr int kBatches = 64;  // Distinct batches, which are used again and again.
/// The number of different labels. Batches get other labels every time, so that the model cannot memorise them and the
/// gradients do not vanish.
constexpr int kLabels = 4096;

/// A block of nanoGPT (causal self-attention and a perceptron) in ordinary operations of LibTorch.
struct BlockImpl : torch::nn::Module {
  BlockImpl()
      : norm1(register_parameter("norm1", torch::ones(kWidth))),
        norm2(register_parameter("norm2", torch::ones(kWidth))),
        attention_in(register_module("c_attn", linear(kWidth, 3 * kWidth))),
        attention_out(register_module("c_proj", linear(kWidth, kWidth))),
        perceptron_in(register_module("c_fc", linear(kWidth, 4 * kWidth))),
        perceptron_out(register_module("c_out", linear(4 * kWidth, kWidth))),
        mask(register_buffer("mask", torch::ones({kContext, kContext}).tril().view({1, 1, kContext, kContext}))) {}

  static torch::nn::Linear linear(int in, int out) {
    torch::nn::Linear layer(torch::nn::LinearOptions(in, out).bias(false));
    torch::nn::init::normal_(layer->weight, 0, 0.02);
    return layer;
  }

  torch::Tensor attend(const torch::Tensor& x) {
    const auto parts = attention_in->forward(x).split(kWidth, 2);
    const auto heads = [&](const torch::Tensor& part) {
      return part.view({x.size(0), x.size(1), kHeads, kWidth / kHeads}).transpose(1, 2);
    };
    auto scores = heads(parts[0]).matmul(heads(parts[1]).transpose(-2, -1)) * (1.0 / std::sqrt(kWidth / kHeads));
    scores = scores.masked_fill(mask == 0, -INFINITY).softmax(-1);
    return attention_out->forward(scores.matmul(heads(parts[2])).transpose(1, 2).contiguous().view(x.sizes()));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = x + attend(torch::layer_norm(x, {kWidth}, norm1));
    return x + perceptron_out->forward(torch::gelu(perceptron_in->forward(torch::layer_norm(x, {kWidth}, norm2))));
  }

  torch::Tensor norm1, norm2;
  torch::nn::Linear attention_in, attention_out, perceptron_in, perceptron_out;
  torch::Tensor mask;
};
TORCH_MODULE(Block);

struct Gpt : torch::nn::Module {
  Gpt()
      : tokens(register_parameter("wte", torch::randn({kVocabulary, kWidth}) * 0.02)),
        positions(register_parameter("wpe", torch::randn({kContext, kWidth}) * 0.02)),
        norm(register_parameter("ln_f", torch::ones(kWidth))) {
    for (int i = 0; i < kLayers; ++i) blocks.push_back(register_module("h" + std::to_string(i), Block()));
  }

  torch::Tensor loss(const torch::Tensor& input, const torch::Tensor& target) {
    auto x = torch::embedding(tokens, input) + positions;
    for (Block& block : blocks) x = block->forward(x);
    const auto logits = torch::nn::functional::linear(torch::layer_norm(x, {kWidth}, norm), tokens);
    return torch::nn::functional::cross_entropy(logits.view({-1, kVocabulary}), target.view(-1));
  }

  torch::Tensor tokens, positions, norm;
  std::vector<Block> blocks;
};

struct StepTime {
  double wall_ns = 0;
  double cpu_ns = 0;
};

double nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

StepTime time_steps(int steps, const std::function<void(int)>& step) {
  const double wall = nanoseconds(CLOCK_MONOTONIC);
  const double cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < steps; ++i) step(i);
  return {(nanoseconds(CLOCK_MONOTONIC) - wall) / steps, (nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / steps};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

std::function<void(int)> mlp_loop() {
  torch::nn::Sequential model(torch::nn::Linear(784, 128), torch::nn::ReLU(), torch::nn::Linear(128, 10));
  auto optimizer = std::make_shared<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(1e-3));
  const auto inputs = torch::randn({kBatches, 64, 784});
  const auto targets = torch::randint(10, {kLabels, 64});
  return [=](int i) mutable {
    optimizer->zero_grad();
    torch::nn::functional::cross_entropy(model->forward(inputs[i % kBatches]), targets[i % kLabels]).backward();
    optimizer->step();
  };
}

std::function<void(int)> gpt_loop() {
  auto model = std::make_shared<Gpt>();
  std::vector<torch::Tensor> matrices, vectors;
  for (const auto& parameter : model->parameters()) (parameter.dim() > 1 ? matrices : vectors).push_back(parameter);
  const auto options = [](double decay) {
    return std::make_unique<torch::optim::AdamWOptions>(
        torch::optim::AdamWOptions(1e-3).betas({0.9, 0.99}).weight_decay(decay));
  };
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(matrices, options(0.1));
  groups.emplace_back(vectors, options(0));
  auto optimizer = std::make_shared<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(1e-3));
  const auto inputs = torch::randint(kVocabulary, {kBatches, kBatch, kContext});
  const auto targets = torch::randint(kVocabulary, {kLabels, kBatch, kContext});
  return [=](int i) {
    optimizer->zero_grad();
    model->loss(inputs[i % kBatches], targets[i % kLabels]).backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer->step();
  };
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "gpt";
  const int steps = argc > 2 ? std::atoi(argv[2]) : which == "gpt" ? 100 : 5000;
  const int runs = argc > 3 ? std::atoi(argv[3]) : 5;
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  at::globalContext().setFlushDenormal(true);  // The processes of a run do this, too.
  torch::set_num_threads(1);
  torch::manual_seed(1);
  const std::function<void(int)> step = which == "gpt" ? gpt_loop() : mlp_loop();
  time_steps(std::max(1, steps / 10), step);  // This warms up caches and malloc.
  std::vector<double> wall, cpu;
  for (int run = 0; run < runs; ++run) {
    const StepTime time = time_steps(steps, step);
    wall.push_back(time.wall_ns);
    cpu.push_back(time.cpu_ns);
  }
  std::printf("{\"name\": \"bare_%s_step\", \"median_ns\": %.0f, \"cpu_ns\": %.0f, \"steps_per_second\": %.1f}\n",
              which.c_str(), median(wall), median(cpu), 1e9 / median(wall));
}
