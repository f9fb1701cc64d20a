// SPDX-License-Identifier: Apache-2.0
// Implements GivenGradients, with which other tests examine gradients, and tests it.
#include "tests/numerics/given_gradients.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/plugin/loader.h"
#include "core/rendezvous/rendezvous.h"

namespace trainyard::testing {
namespace {

/// A model whose loss is the sum of the products of its parameters with the tensors of the batch. These tensors are
/// therefore the gradients of the parameters.
class LinearModel final : public Model {
 public:
  LinearModel(ModelContext context, const std::vector<std::vector<std::int64_t>>& shapes) : Model(context) {
    for (const auto& shape : shapes) parameters_.push_back(at::zeros(shape).set_requires_grad(true));
  }

  void build(const DatasetInfo&) override {}
  std::vector<NamedTensor> parameters() override {
    std::vector<NamedTensor> named;
    for (const at::Tensor& one : parameters_) named.push_back({fmt::format("p{}", named.size()), one});
    return named;
  }
  void set_training(bool) override {}
  at::Tensor training_step(const ModelBatch& batch) override {
    at::Tensor loss = at::zeros({});
    for (std::size_t i = 0; i < parameters_.size(); ++i) loss = loss + (parameters_[i] * batch.tensors[i]).sum();
    return loss;
  }
  std::vector<NamedMetric> evaluation_step(const ModelBatch&) override { return {}; }

 private:
  std::vector<at::Tensor> parameters_;
};

/// Runs `action` for every rank at the same time.
template <class Action>
void on_threads(std::uint32_t ranks, const Action& action) {
  std::vector<std::exception_ptr> failures(ranks);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          action(rank);
        } catch (...) {
          failures[rank] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace

struct GivenGradients::Rank {
  std::shared_ptr<core::PluginLoader> plugins;
  std::shared_ptr<core::Rendezvous> rendezvous;
  std::unique_ptr<LinearModel> model;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<World> world;
  std::unique_ptr<Passes> passes;
  std::unique_ptr<Strategy> strategy;

  void make(const PluginContext& context, const std::string& name,
            const std::vector<std::vector<std::int64_t>>& shapes) {
    PluginContext empty = context;
    empty.parameters = "{}";
    model = std::make_unique<LinearModel>(empty, shapes);
    world = std::make_unique<World>(empty, PluginSpec{"auto", "{}"}, std::chrono::seconds(60));
    passes = std::make_unique<Passes>(Passes::Options{.where = "test"});
    arena = std::make_unique<Arena>(model->parameters(), model->buffers(), [](std::size_t bytes) {
      Buffer buffer = Buffer::heap(bytes);
      std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{0});
      return buffer;
    });
    StrategyContext own;
    static_cast<PluginContext&>(own) = context;
    strategy = plugins->create<Strategy>(name, own);
    strategy->check_all_given_are_known();
    strategy->set_up({.model = model.get(), .arena = arena.get(), .world = world.get(), .passes = passes.get()});
    strategy->start();
  }
};

GivenGradients::GivenGradients(std::uint32_t ranks, const std::string& strategy, const std::string& parameters,
                               const std::vector<std::vector<std::int64_t>>& shapes) {
  const auto plugins = std::make_shared<core::PluginLoader>(core::PluginLoader::default_directories());
  const std::shared_ptr<core::Rendezvous> rendezvous = core::make_local_rendezvous();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<Rank>());
    ranks_[rank]->plugins = plugins;
    ranks_[rank]->rendezvous = rendezvous;
  }
  on_threads(ranks, [&](std::uint32_t rank) {
    PluginContext context{.where = "test", .parameters = parameters, .seed = 1, .rank = rank, .world_size = ranks};
    context.plugins = plugins.get();
    context.rendezvous = rendezvous.get();
    ranks_[rank]->make(context, strategy, shapes);
  });
}

// All ranks end at the same time, because a rank may have to communicate with the others when it ends.
GivenGradients::~GivenGradients() {
  on_threads(static_cast<std::uint32_t>(ranks_.size()), [this](std::uint32_t rank) { ranks_[rank].reset(); });
}

std::vector<GivenGradients::Gradients> GivenGradients::reduce(const std::vector<Gradients>& given, double loss_scale) {
  std::vector<Gradients> results(given.size());
  on_threads(static_cast<std::uint32_t>(given.size()), [&](std::uint32_t rank) {
    const Rank& one = *ranks_[rank];
    one.strategy->drop_step();
    one.strategy->train({.data = {.split = "train", .tensors = given[rank]},
                         .samples = 1,
                         .weight = loss_scale,
                         .loss_scale = loss_scale});
    one.strategy->end_step({});
    for (const NamedTensor& parameter : one.model->parameters()) {
      results[rank].push_back(parameter.tensor.grad() / loss_scale);
    }
  });
  return results;
}

std::vector<SavedState> GivenGradients::save(std::uint32_t rank) const {
  StateWriter writer("strategy", rank);
  ranks_[rank]->strategy->save_state(writer);
  return writer.take();
}

std::vector<Scalar> GivenGradients::stats(std::uint32_t rank) const { return ranks_[rank]->strategy->stats(); }

namespace {

TEST(GivenGradientsTest, DdpAveragesThem) {
  GivenGradients ranks(3, "ddp", "{}", {{2, 3}, {5}});
  std::vector<GivenGradients::Gradients> given;
  for (int rank = 0; rank < 3; ++rank) given.push_back({at::full({2, 3}, 3.0 * rank), at::full({5}, 1.0)});
  for (const auto& result : ranks.reduce(given)) {
    EXPECT_TRUE(result[0].equal(at::full({2, 3}, 3.0)));
    EXPECT_TRUE(result[1].equal(at::full({5}, 1.0)));
  }
}

}  // namespace
}  // namespace trainyard::testing
