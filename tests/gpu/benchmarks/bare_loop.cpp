// SPDX-License-Identifier: Apache-2.0
// The baseline on a GPU: a training loop written with LibTorch alone, as a careful user would write it. It has fused
// attention, LibTorch's fused AdamW, gradients that are clipped without waiting for the GPU, and batches that are in
// the memory of the GPU already. Prints one JSON object.
//
//    trainyard_gpu_benchmark_bare_loop gpt LAYERS HEADS WIDTH CONTEXT VOCABULARY BATCH PRECISION [steps]
//    trainyard_gpu_benchmark_bare_loop resnet18 SIZE CLASSES BATCH PRECISION [steps]
//
// PRECISION is 32-true or bf16-mixed.
#include <ATen/autocast_mode.h>
#include <torch/cuda.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace nn = torch::nn;
using torch::Tensor;

constexpr int kBatches = 8;  // Distinct batches, which are used again and again.

nn::Linear linear(std::int64_t in, std::int64_t out) {
  nn::Linear layer(nn::LinearOptions(in, out).bias(false));
  nn::init::normal_(layer->weight, 0, 0.02);
  return layer;
}

struct BlockImpl : nn::Module {
  BlockImpl(std::int64_t width, std::int64_t heads)
      : width(width),
        heads(heads),
        norm1(register_parameter("norm1", torch::ones(width))),
        norm2(register_parameter("norm2", torch::ones(width))),
        attention_in(register_module("c_attn", linear(width, 3 * width))),
        attention_out(register_module("c_proj", linear(width, width))),
        perceptron_in(register_module("c_fc", linear(width, 4 * width))),
        perceptron_out(register_module("c_out", linear(4 * width, width))) {}

  Tensor attend(const Tensor& x) {
    const auto parts = attention_in->forward(x).split(width, 2);
    const auto of_heads = [&](const Tensor& part) {
      return part.view({x.size(0), x.size(1), heads, width / heads}).transpose(1, 2);
    };
    const Tensor mixed = at::scaled_dot_product_attention(of_heads(parts[0]), of_heads(parts[1]), of_heads(parts[2]),
                                                          {}, 0.0, /*is_causal=*/true);
    return attention_out->forward(mixed.transpose(1, 2).reshape({x.size(0), x.size(1), width}));
  }

  Tensor forward(Tensor x) {
    x = x + attend(torch::layer_norm(x, {width}, norm1));
    return x + perceptron_out->forward(torch::gelu(perceptron_in->forward(torch::layer_norm(x, {width}, norm2))));
  }

  std::int64_t width, heads;
  Tensor norm1, norm2;
  nn::Linear attention_in, attention_out, perceptron_in, perceptron_out;
};
TORCH_MODULE(Block);

struct Gpt : nn::Module {
  Gpt(std::int64_t layers, std::int64_t heads, std::int64_t width, std::int64_t context, std::int64_t vocabulary)
      : width(width),
        tokens(register_parameter("wte", torch::randn({vocabulary, width}) * 0.02)),
        positions(register_parameter("wpe", torch::randn({context, width}) * 0.02)),
        norm(register_parameter("ln_f", torch::ones(width))) {
    for (std::int64_t i = 0; i < layers; ++i) {
      blocks.push_back(register_module("h" + std::to_string(i), Block(width, heads)));
    }
  }

  Tensor loss(const Tensor& input, const Tensor& target) {
    Tensor x = torch::embedding(tokens, input) + positions;
    for (Block& block : blocks) x = block->forward(x);
    const Tensor logits = nn::functional::linear(torch::layer_norm(x, {width}, norm), tokens);
    return nn::functional::cross_entropy(logits.view({-1, logits.size(-1)}), target.view(-1));
  }

  std::int64_t width;
  Tensor tokens, positions, norm;
  std::vector<Block> blocks;
};

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false));
}

struct ResidualImpl : nn::Module {
  ResidualImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : first(register_module("conv1", convolution(in, out, 3, stride))),
        second(register_module("conv2", convolution(out, out, 3, 1))),
        norm1(register_module("bn1", nn::BatchNorm2d(out))),
        norm2(register_module("bn2", nn::BatchNorm2d(out))) {
    if (stride != 1 || in != out) {
      shortcut = register_module("downsample", nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm2d(out)));
    }
  }

  Tensor forward(const Tensor& x) {
    const Tensor y = norm2->forward(second->forward(torch::relu(norm1->forward(first->forward(x)))));
    return torch::relu(y + (shortcut.is_empty() ? x : shortcut->forward(x)));
  }

  nn::Conv2d first, second;
  nn::BatchNorm2d norm1, norm2;
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Residual);

struct Resnet18 : nn::Module {
  explicit Resnet18(std::int64_t classes)
      : stem(register_module("stem", nn::Sequential(convolution(3, 64, 7, 2), nn::BatchNorm2d(64), nn::ReLU(),
                                                    nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1))))),
        body(register_module("body", nn::Sequential())),
        head(register_module("fc", nn::Linear(512, classes))) {
    std::int64_t in = 64;
    for (const std::int64_t out : {64, 128, 256, 512}) {
      body->push_back(Residual(in, out, out == 64 ? 1 : 2));
      body->push_back(Residual(out, out, 1));
      in = out;
    }
  }

  Tensor loss(const Tensor& input, const Tensor& target) {
    const Tensor features = body->forward(stem->forward(input)).mean({2, 3});
    return nn::functional::cross_entropy(head->forward(features), target);
  }

  nn::Sequential stem, body;
  nn::Linear head;
};

/// AdamW with LibTorch's fused kernel.
class FusedAdamW {
 public:
  FusedAdamW(const std::vector<Tensor>& parameters, double weight_decay) : weight_decay_(weight_decay) {
    for (const Tensor& parameter : parameters) {
      parameters_.push_back(parameter);
      means_.push_back(torch::zeros_like(parameter));
      squares_.push_back(torch::zeros_like(parameter));
      steps_.push_back(torch::zeros({}, parameter.options().dtype(torch::kFloat)));
    }
  }

  void step() {
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
    at::_foreach_add_(steps_, 1);
    at::_fused_adamw_(parameters_, gradients, means_, squares_, {}, steps_, 1e-3, 0.9, 0.99, weight_decay_, 1e-8,
                      /*amsgrad=*/false, /*maximize=*/false);
  }

 private:
  double weight_decay_;
  std::vector<Tensor> parameters_, means_, squares_, steps_;
};

/// Scales the gradients to a norm of 1 at most, as torch.nn.utils.clip_grad_norm_ does with foreach.
void clip(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  const Tensor norm = torch::stack(at::_foreach_norm(gradients, 2)).norm();
  at::_foreach_mul_(gradients, (1 / (norm + 1e-6)).clamp_max(1));
}

template <class Model>
void measure(const std::shared_ptr<Model>& model, const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets,
             bool mixed, bool clipped, int steps, const std::string& name) {
  model->to(torch::kCUDA);
  std::vector<Tensor> matrices, vectors;
  for (const Tensor& parameter : model->parameters()) (parameter.dim() > 1 ? matrices : vectors).push_back(parameter);
  FusedAdamW decayed(matrices, 0.1), plain(vectors, 0);
  const auto step = [&](int i) {
    for (const Tensor& parameter : model->parameters()) at::Tensor(parameter).mutable_grad().reset();
    at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCUDA, mixed);
    const Tensor loss = model->loss(inputs[i % kBatches], targets[i % kBatches]);
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    loss.backward();
    if (clipped) clip(model->parameters());
    decayed.step();
    plain.step();
  };
  for (int i = 0; i < 10; ++i) step(i);
  std::vector<double> times;
  for (int run = 0; run < 3; ++run) {
    torch::cuda::synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) step(i);
    torch::cuda::synchronize();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / steps);
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"name\": \"%s\", \"step_ms\": %.4f}\n", name.c_str(), 1000 * times[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i) { return i < argc ? std::atoll(argv[i]) : 0; };
  const auto on_gpu = torch::TensorOptions().device(torch::kCUDA);
  torch::manual_seed(1);
  at::globalContext().setFloat32MatmulPrecision("highest");
  at::globalContext().setAllowTF32CuDNN(false);
  std::vector<Tensor> inputs, targets;
  if (argc >= 9 && std::string(argv[1]) == "gpt") {
    const std::int64_t context = number(5), vocabulary = number(6), batch = number(7);
    for (int i = 0; i < kBatches; ++i) {
      inputs.push_back(torch::randint(vocabulary, {batch, context}, on_gpu.dtype(torch::kLong)));
      targets.push_back(torch::randint(vocabulary, {batch, context}, on_gpu.dtype(torch::kLong)));
    }
    measure(std::make_shared<Gpt>(number(2), number(3), number(4), context, vocabulary), inputs, targets,
            std::string(argv[8]) == "bf16-mixed", /*clipped=*/true, argc > 9 ? static_cast<int>(number(9)) : 30,
            "bare gpt");
    return 0;
  }
  if (argc >= 6 && std::string(argv[1]) == "resnet18") {
    const std::int64_t size = number(2), classes = number(3), batch = number(4);
    for (int i = 0; i < kBatches; ++i) {
      inputs.push_back(torch::randn({batch, 3, size, size}, on_gpu));
      targets.push_back(torch::randint(classes, {batch}, on_gpu.dtype(torch::kLong)));
    }
    measure(std::make_shared<Resnet18>(classes), inputs, targets, std::string(argv[5]) == "bf16-mixed",
            /*clipped=*/false, argc > 6 ? static_cast<int>(number(6)) : 30, "bare resnet18");
    return 0;
  }
  std::fprintf(stderr,
               "usage: %s gpt LAYERS HEADS WIDTH CONTEXT VOCABULARY BATCH PRECISION [steps]\n"
               "       %s resnet18 SIZE CLASSES BATCH PRECISION [steps]\n",
               argv[0], argv[0]);
  return 2;
}
