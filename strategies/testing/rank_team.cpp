// SPDX-License-Identifier: Apache-2.0
#include "strategies/testing/rank_team.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "tensors/bridge.h"

namespace trainyard::testing {
namespace {

/// Not a multiple of Arena::kAlignment, so that there is padding between parameters.
constexpr std::int64_t kWidth = 40;
constexpr int kStages = 4;
constexpr double kLearningRate = 0.05;

/// Multiplies its input by the parameters, one stage after the other. The loss is the mean square of the result.
/// Further metrics are the largest result and the sum of the results.
class StagedModel final : public Model {
 public:
  explicit StagedModel(ModelContext context) : Model(context) {
    for (int i = 0; i < kStages; ++i) weights_.push_back(at::full({kWidth}, 1.0 + 0.1 * i).set_requires_grad(true));
    if (*has_empty_parameter_) empty_ = at::empty({0}).set_requires_grad(true);
  }

  void build(const DatasetInfo&) override {}
  void set_training(bool) override {}

  std::vector<NamedTensor> parameters() override {
    std::vector<NamedTensor> named = weights();
    if (empty_.defined()) named.insert(named.begin() + kStages / 2, {"empty", empty_});
    return named;
  }

  std::vector<Stage> stages() override {
    std::vector<Stage> all;
    for (const NamedTensor& named : weights()) {
      all.push_back({.name = fmt::format("stage{}", all.size()),
                     .parameters = {named},
                     .buffers = {},
                     .forward = [weight = named.tensor](const at::Tensor& input) { return input * weight; }});
    }
    return all;
  }

  at::Tensor training_step(const ModelBatch& batch) override { return loss(output_of(batch), batch); }
  at::Tensor loss(const at::Tensor& output, const ModelBatch&) override { return (output * output).mean(); }
  std::vector<NamedMetric> metrics(const at::Tensor& output, const ModelBatch& batch) override {
    return {{"loss", loss(output, batch)},
            {"largest", output.max(), Reduction::kMax},
            {"total", output.sum(), Reduction::kSum}};
  }
  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override {
    return metrics(output_of(batch), batch);
  }

 private:
  std::vector<NamedTensor> weights() const {
    std::vector<NamedTensor> named;
    for (const at::Tensor& weight : weights_) named.push_back({fmt::format("stage{}.weight", named.size()), weight});
    return named;
  }
  at::Tensor output_of(const ModelBatch& batch) {
    at::Tensor values = stage_input(batch);
    for (const at::Tensor& weight : weights_) values = values * weight;
    return values;
  }

  Parameter<bool> has_empty_parameter_{*this, "has_empty_parameter", false, "add a parameter without elements"};
  std::vector<at::Tensor> weights_;
  at::Tensor empty_;  ///< A parameter that no stage uses; undefined unless `has_empty_parameter`.
};

Buffer zeroed(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{0});
  return buffer;
}

}  // namespace

TeamMember::TeamMember(const PluginContext& context, const std::string& strategy, const std::string& model)
    : rank_(context.rank) {
  PluginContext plain = context;
  plain.parameters = model;
  model_ = std::make_unique<StagedModel>(plain);
  plain.parameters = "{}";
  world_ = std::make_unique<World>(plain, PluginSpec{"auto", "{}"}, std::chrono::seconds(60));
  passes_ = std::make_unique<Passes>(Passes::Options{.where = "test", .on_nan = OnNan::kStop});
  StrategyContext own;
  static_cast<PluginContext&>(own) = context;
  own.model = model_.get();
  strategy_ = context.plugins->create<Strategy>(strategy, own);
  strategy_->check_all_given_are_known();
  const ArenaShard shard = strategy_->shard(ArenaLayout::of(model_->parameters(), {}));
  arena_ = std::make_unique<Arena>(model_->parameters(), model_->buffers(), &zeroed, DeviceMemory{}, shard);
  strategy_->set_up({.model = model_.get(), .arena = arena_.get(), .world = world_.get(), .passes = passes_.get()});
  info_ = arena_->info(context.rank, "cpu", "staged");
  strategy_->start();
}

StepSummary TeamMember::step(std::uint64_t step, const ModelBatch& rows, double loss_scale) {
  strategy_->train({.data = rows, .samples = samples_of(rows), .weight = loss_scale, .loss_scale = loss_scale});
  const StepSummary summary = strategy_->end_step({.check_finite = true, .norm = true});
  const at::Tensor gradients = view_of(info_.blocks.at(1).data);
  gradients_ = gradients.clone();
  if (strategy_->begin_update(step) > 0) {
    const at::NoGradGuard no_gradients;
    view_of(info_.blocks.at(0).data).sub_(gradients, kLearningRate / loss_scale);
    gradients.zero_();
  }
  strategy_->end_update(step);
  return summary;
}

std::vector<SavedState> TeamMember::save() {
  strategy_->begin_snapshot();
  StateWriter writer("strategy", rank_);
  strategy_->save_state(writer);
  return writer.take();
}

void TeamMember::resume(const at::Tensor& parameters, const RestoredStates& states) {
  const at::NoGradGuard no_gradients;
  view_of(info_.blocks.at(0).data).copy_(parameters);
  strategy_->start();
  const StateReader reader(states, "strategy", rank_);
  if (!reader.empty()) strategy_->restore_state(reader);
}

at::Tensor TeamMember::announced() const { return view_of(info_.blocks.at(0).data).clone(); }

RankTeam::RankTeam(std::uint32_t ranks, const std::string& strategy, const std::string& parameters,
                   const std::string& model)
    : plugins_(core::PluginLoader::default_directories()), rendezvous_(core::make_local_rendezvous()), members_(ranks) {
  const auto log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
  on_threads([&](std::uint32_t rank) {
    PluginContext context{.where = fmt::format("strategy '{}'", strategy),
                          .parameters = parameters,
                          .seed = 1,
                          .rank = rank,
                          .world_size = ranks};
    context.log = log;
    context.plugins = &plugins_;
    context.pool = &pool_;
    context.rendezvous = rendezvous_.get();
    members_[rank] = std::make_unique<TeamMember>(context, strategy, model);
  });
}

// The members are destroyed at the same time, because the destructor of one rank may wait for the other ranks.
RankTeam::~RankTeam() {
  on_threads([this](std::uint32_t rank) { members_[rank].reset(); });
}

void RankTeam::each(const std::function<void(std::uint32_t rank, TeamMember& member)>& action) {
  on_threads([&](std::uint32_t rank) { action(rank, *members_[rank]); });
}

void RankTeam::on_threads(const std::function<void(std::uint32_t rank)>& action) {
  std::vector<std::exception_ptr> failures(members_.size());
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
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

at::Tensor RankTeam::whole_parameters() {
  std::vector<at::Tensor> parts;
  std::int64_t elements = 0;
  for (const auto& member : members_) {
    parts.push_back(member->announced());
    elements += parts.back().numel();
  }
  const auto whole = static_cast<std::int64_t>(members_[0]->arena().layout().parameter_bytes / sizeof(float));
  return elements == whole ? at::cat(parts) : parts.front();
}

at::Tensor mean_of_gradients_alone(const std::string& strategy, std::uint32_t ranks) {
  at::Tensor sum;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankTeam alone(1, strategy);
    alone.member(0).step(1, made_up_rows(rank, 4));
    sum = sum.defined() ? sum + alone.member(0).gradients() : alone.member(0).gradients();
  }
  return sum / static_cast<double>(ranks);
}

std::uint64_t samples_of(const ModelBatch& rows) {
  return rows.tensors.empty() ? 0 : static_cast<std::uint64_t>(rows.tensors.front().size(0));
}

ModelBatch made_up_rows(std::uint64_t number, std::int64_t rows) {
  if (rows == 0) return {.split = "train", .tensors = {}};
  const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(number);
  return {.split = "train", .tensors = {at::randn({rows, kWidth}, generator, at::TensorOptions())}};
}

}  // namespace trainyard::testing
