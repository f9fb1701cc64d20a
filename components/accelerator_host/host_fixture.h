// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "components/accelerator_host/accelerator_host.h"
#include "core/testing/rig.h"
#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard::testing {

inline constexpr const char* kMlp =
    R"("model": {"plugin": "mlp", "hidden": [5]}, "accelerator": {"plugin": "cpu", "threads": "1"})";

/// A test fixture with an accelerator host as the only component. The test itself sends the messages that would come
/// from the data loader, the optimizer, the strategy manager and the checkpoint writer.
class AcceleratorHostTest : public ::testing::Test {
 protected:
  void start(const std::string& more = "") {
    host_ = &rig_.add<AcceleratorHost>("accelerator_host", std::string("{") + kMlp + more + "}");
    rig_.start();
    set_readers(0);
    set_connections("optimizer_state", 0);
    DatasetInfo data;
    data.dataset = "made up";
    data.fields = {{"input", 7, {6}}, {"target", 4, {}}};
    data.classes = 3;
    data.unit = "sample";
    rig_.send("dataset", data);
    rig_.run_until_idle();
    arena_ = *rig_.received<ArenaInfo>("arena").at(0);
  }

  void start_ready(const std::string& more = "", const RunState& state = {}) {
    start(more);
    rig_.send("parameters", Parameters{.step = 0});
    rig_.send("/run_state", state);
    rig_.run_until_idle();
  }

  at::Tensor entry(const std::string& name, int block) const {
    for (const ArenaEntry& entry : arena_.entries) {
      if (entry.name != name) continue;
      return view_of(
          {DType::kFloat32, entry.shape, entry.offset_bytes, arena_.blocks[static_cast<size_t>(block)].data.buffer});
    }
    throw Error(Code::kNotFound, "no entry {}", name);
  }

  /// Returns batch number `index` of the order with the id `order`, with `samples` samples of the split `split`.
  /// The values of the samples depend only on `index`.
  static Batch batch(std::uint64_t order, std::uint64_t index, std::int64_t samples = 4,
                     const std::string& split = "train") {
    Batch made{
        .order = order, .split = split, .epoch = 0, .index = index, .samples = static_cast<std::uint64_t>(samples)};
    made.next = {0, index + 1};
    Tensor input = Tensor::empty(DType::kFloat32, {samples, 6});
    Tensor target = Tensor::empty(DType::kInt64, {samples});
    for (std::size_t i = 0; i < input.as<float>().size(); ++i)
      input.as<float>()[i] = std::sin(static_cast<float>(i * 7 + index * 3));
    for (std::size_t i = 0; i < target.as<std::int64_t>().size(); ++i)
      target.as<std::int64_t>()[i] = static_cast<std::int64_t>((i + index) % 3);
    made.tensors = {input, target};
    return made;
  }

  /// A reference that computes the loss of a batch directly with LibTorch, from copies of the parameters with their own
  /// gradients.
  struct Oracle {
    std::vector<at::Tensor> parameters;
    at::Tensor loss(const Batch& batch) const {
      const at::Tensor hidden = at::relu(at::linear(view_of(batch.tensors[0]), parameters[0], parameters[1]));
      return at::cross_entropy_loss(at::linear(hidden, parameters[2], parameters[3]), view_of(batch.tensors[1]));
    }
  };
  Oracle oracle() const {
    Oracle made;
    for (const ArenaEntry& one : arena_.entries) {
      made.parameters.push_back(entry(one.name, 0).clone().set_requires_grad(true));
    }
    return made;
  }

  void expect_gradients(const Oracle& expected, double factor = 1) const {
    for (std::size_t i = 0; i < arena_.entries.size(); ++i) {
      EXPECT_TRUE(entry(arena_.entries[i].name, 1).allclose(expected.parameters[i].grad() * factor, 1e-5, 1e-7))
          << arena_.entries[i].name;
    }
  }

  /// Sets the number of components that read the parameters after each step, and for whose answers the host waits.
  void set_readers(std::size_t count) { set_connections("arena_read", count); }

  /// Sets the number of components that send to the optional input `name`. The host waits for a message from each of
  /// them.
  void set_connections(const std::string& name, std::size_t count) {
    for (InputBase* input : host_->inputs()) {
      if (input->name() == name) input->set_connections(count);
    }
  }

  template <class T>
  void send(const std::string& topic, T message) {
    rig_.send(topic, std::move(message));
    rig_.run_until_idle();
  }

  /// Answers as an optimizer would, but leaves the parameters unchanged: zeroes the gradients and sends Parameters.
  void answer(std::uint64_t step) {
    view_of(arena_.blocks[1].data).zero_();
    send("parameters", Parameters{.step = step, .learning_rate = 0.5});
  }

  static Order train(std::uint64_t id, std::uint64_t batches, std::uint64_t micro_batches = 1) {
    return {.id = id, .kind = OrderKind::kTrain, .split = "train", .batches = batches, .micro_batches = micro_batches};
  }

  std::size_t gradients() const { return rig_.received<Gradients>("gradients").size(); }
  std::size_t done() const { return rig_.received<OrderDone>("/order_done").size(); }

  Rig rig_;
  AcceleratorHost* host_ = nullptr;
  ArenaInfo arena_;
};

}  // namespace trainyard::testing
