// SPDX-License-Identifier: Apache-2.0
// Implements MiniRun, which the tests in this folder use, and tests it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "components/accelerator_host/accelerator_host.h"
#include "components/optimizer/optimizer.h"
#include "messages/error.h"
#include "tensors/bridge.h"
#include "tests/numerics/mini_run.h"

namespace trainyard::testing {

MiniRun::MiniRun(const std::string& host, const std::string& optimizer, const DatasetInfo& data, std::uint64_t seed)
    : MiniRun(host, optimizer, data, [seed] {
        Rig::World world;
        world.seed = seed;
        return world;
      }()) {}

MiniRun::MiniRun(const std::string& host, const std::string& optimizer, const DatasetInfo& data,
                 const Rig::World& world) {
  rig_.world().seed = world.seed;
  rig_.world().rank = world.rank;
  rig_.world().world_size = world.world_size;
  rig_.world().rendezvous = world.rendezvous;
  AcceleratorHost& computing = rig_.add<AcceleratorHost>(
      "accelerator_host", R"({"log_every_steps": 1, "accelerator": {"plugin": "cpu", "threads": "1"}, )" + host + "}");
  rig_.add<Optimizer>("optimizer", optimizer);
  rig_.start();
  // The optional inputs for readers of the arena have no sender here.
  for (InputBase* input : computing.inputs()) {
    if (input->name() == "arena_read") input->set_connections(0);
  }
  rig_.send("dataset", data);
  rig_.send("/run_state", RunState{});
  rig_.run_until([this] { return !rig_.received<ModelInfo>("/model").empty(); });
  arena_ = *rig_.received<ArenaInfo>("arena").at(0);
}

void MiniRun::send(std::vector<Batch> batches, const std::string& split) {
  for (Batch& batch : batches) {
    batch.order = order_;
    batch.split = split;
    rig_.send("batches", std::move(batch));
  }
  // On a processor that Debian's OpenBLAS does not know, a large network in double precision takes long.
  constexpr std::chrono::minutes kDeadline{3};
  rig_.run_until(
      [this] {
        const auto done = rig_.received<OrderDone>("/order_done");
        return !done.empty() && done.back()->order == order_;
      },
      kDeadline);
}

std::vector<double> MiniRun::train(std::vector<Batch> batches, std::uint64_t micro_batches) {
  const std::size_t before = metrics().size();
  rig_.send("/orders", Order{.id = ++order_,
                             .kind = OrderKind::kTrain,
                             .split = "train",
                             .batches = batches.size(),
                             .micro_batches = micro_batches});
  send(std::move(batches), "train");
  std::vector<double> losses;
  const std::vector<Metrics> all = metrics();
  for (std::size_t i = before; i < all.size(); ++i) {
    if (all[i].stage != "train") continue;
    const auto loss = std::ranges::find(all[i].values, "loss", &Scalar::name);
    losses.push_back(loss == all[i].values.end() ? std::numeric_limits<double>::quiet_NaN() : loss->value);
  }
  return losses;
}

std::vector<Metrics> MiniRun::metrics() const {
  std::vector<Metrics> all;
  for (const auto& one : rig_.received<Metrics>("/metrics")) all.push_back(*one);
  for (const auto& one : rig_.received<RankMetrics>("/rank_metrics")) all.push_back(one->metrics);
  return all;
}

std::vector<Scalar> MiniRun::evaluate(std::vector<Batch> batches) {
  rig_.send("/orders",
            Order{.id = ++order_, .kind = OrderKind::kEvaluate, .split = "validate", .batches = batches.size()});
  send(std::move(batches), "validate");
  return rig_.received<OrderDone>("/order_done").back()->metrics;
}

Prediction MiniRun::predict(Batch batch) {
  rig_.send("/orders", Order{.id = ++order_, .kind = OrderKind::kPredict, .split = "predict", .batches = 1});
  send({std::move(batch)}, "predict");
  return *rig_.received<Prediction>("/predictions").back();
}

at::Tensor MiniRun::parameters() const { return view_of(arena_.blocks.at(0).data); }

at::Tensor MiniRun::parameter(const std::string& name) const {
  for (const ArenaEntry& entry : arena_.entries) {
    if (entry.name != name) continue;
    return view_of({static_cast<DType>(entry.dtype), entry.shape, entry.offset_bytes, arena_.blocks.at(0).data.buffer})
        .clone();
  }
  throw Error(Code::kNotFound, "the arena has no parameter '{}'", name);
}

std::vector<std::string> MiniRun::parameter_names() const {
  std::vector<std::string> names;
  for (const ArenaEntry& entry : arena_.entries) {
    if (entry.block == "parameters") names.push_back(entry.name);
  }
  return names;
}

at::Tensor MiniRun::state(const std::string& block) const {
  for (const ArenaBlock& one : rig_.received<OptimizerState>("optimizer_state").at(0)->blocks) {
    if (one.name == block) return view_of(one.data);
  }
  throw Error(Code::kNotFound, "the optimizer has no block '{}'", block);
}

double MiniRun::metric(const std::string& name) const {
  const Metrics newest = metrics().back();
  std::string known;
  for (const Scalar& scalar : newest.values) {
    if (scalar.name == name) return scalar.value;
    known += " " + scalar.name;
  }
  throw Error(Code::kNotFound, "the newest metrics ({}) have no '{}'; they have{}", newest.stage, name, known);
}

Batch made_up_batch(std::uint64_t index, std::int64_t samples, std::int64_t features, std::int64_t classes) {
  Batch batch{.order = 0, .split = "train", .epoch = 0, .index = index, .samples = static_cast<std::uint64_t>(samples)};
  batch.tensors = {Tensor::empty(DType::kFloat32, {samples, features}), Tensor::empty(DType::kInt64, {samples})};
  const auto input = batch.tensors[0].as<float>();
  const auto target = batch.tensors[1].as<std::int64_t>();
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = std::sin(static_cast<float>(13 * i + 7 * index)) * std::cos(static_cast<float>(i));
  }
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = static_cast<std::int64_t>(i * 5 + index) % classes;
  }
  return batch;
}

Batch rows(const Batch& batch, std::int64_t begin, std::int64_t end) {
  Batch part = batch;
  part.samples = static_cast<std::uint64_t>(end - begin);
  for (Tensor& tensor : part.tensors) {
    const std::size_t row = tensor.bytes() / static_cast<std::size_t>(tensor.shape[0]);
    tensor.offset += row * static_cast<std::size_t>(begin);
    tensor.shape[0] = end - begin;
  }
  return part;
}

DatasetInfo made_up_data(std::int64_t features, std::int64_t classes) {
  DatasetInfo data;
  data.dataset = "made up";
  data.fields = {{"input", 7, {features}}, {"target", 4, {}}};
  data.classes = static_cast<std::uint64_t>(classes);
  return data;
}

namespace {

TEST(MiniRunTest, PartsOfABatchShareItsMemory) {
  const Batch batch = made_up_batch(3, 8, 5, 4);
  const Batch part = rows(batch, 2, 6);
  EXPECT_EQ(part.samples, 4u);
  EXPECT_EQ(part.tensors[0].as<float>()[0], batch.tensors[0].as<float>()[10]);
  EXPECT_EQ(part.tensors[1].as<std::int64_t>()[3], batch.tensors[1].as<std::int64_t>()[5]);
}

}  // namespace
}  // namespace trainyard::testing
