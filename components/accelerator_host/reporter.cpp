// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/activity/wait_scope.h"

namespace trainyard::host {
namespace {

std::int64_t realtime_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// An evaluation of the training data gets a stage of its own, so that its metrics are not mistaken for those of
/// training steps.
std::string stage_of(const Order& order) { return order.split == kTrainSplit ? "train_eval" : order.split; }

}  // namespace

Reporter::Reporter(Runner& runner, const RunPosition& position, Outputs outputs, const ComponentContext& context,
                   const Parameter<bool>& device_stats)
    : runner_(runner),
      position_(position),
      outputs_(outputs),
      device_stats_(device_stats),
      rank_(context.rank),
      world_size_(context.world_size) {}

void Reporter::count_in(const std::string& unit, std::uint64_t units_per_sample) {
  unit_ = unit;
  units_per_sample_ = units_per_sample;
}

void Reporter::report_step(const Order& order, const StepOutcome& step) {
  if (muted_) return;
  RankMetrics said{.weight = static_cast<double>(step.samples), .reductions = {}};
  said.metrics.values = values_of(step);
  // If all ranks get the same samples, each sample must be counted only once.
  if (!runner_.same_data()) said.reductions["throughput"] = Reduction::kSum;
  send(order, "train", std::move(said));
}

std::vector<Scalar> Reporter::values_of(const StepOutcome& step) {
  double loss = 0;
  for (const at::Tensor& one : step.losses) loss += one.item<double>() / static_cast<double>(step.losses.size());
  std::vector<Scalar> values;
  // A rank that had no samples in the step has no loss.
  if (!step.losses.empty()) values.push_back({"loss", loss});
  if (step.updated) values.push_back({"learning_rate", step.learning_rate});
  if (step.result.norm > 0) values.push_back({"gradient_norm", step.result.norm});
  for (Scalar& value : runner_.metrics()) values.push_back(std::move(value));
  if (*device_stats_) {
    for (const auto& [name, value] : runner_.device().stats()) values.push_back({name, value});
  }
  {
    const core::WaitScope waiting(core::WaitKind::kDevice);
    runner_.device().synchronize();
  }
  add_link_bytes(values);
  values.push_back({"throughput", throughput_.take(Throughput::Clock::now())});
  return values;
}

void Reporter::begin_counting() {
  std::vector<Scalar> before;
  add_link_bytes(before);
}

/// Adds the mean number of bytes copied per step since the last report, for each purpose (such as batches or gradients)
/// for which bytes were copied.
void Reporter::add_link_bytes(std::vector<Scalar>& values) {
  const std::shared_ptr<devices::LinkBytes> link = runner_.device().link_bytes();
  if (!link) return;
  const auto steps =
      static_cast<double>(std::max<std::uint64_t>(position_.step - std::exchange(link_step_, position_.step), 1));
  double sum = 0;
  for (std::size_t i = 0; i < devices::kPurposes; ++i) {
    const auto purpose = static_cast<devices::Purpose>(i);
    const std::uint64_t now = link->of(purpose).both();
    const double per_step = static_cast<double>(now - std::exchange(link_bytes_[i], now)) / steps;
    if (per_step == 0) continue;
    sum += per_step;
    values.push_back({fmt::format("bytes_over_link.{}", name_of(purpose)), per_step});
  }
  values.push_back({"bytes_over_link", sum});
}

void Reporter::report_evaluation(const Order& order, const OrderDone& done) {
  RankMetrics said{.weight = static_cast<double>(done.samples), .reductions = done.reductions};
  said.metrics.values = done.metrics;
  send(order, stage_of(order), std::move(said));
}

void Reporter::send(const Order& order, const std::string& stage, RankMetrics said) {
  if (muted_) return;
  said.rank = rank_;
  said.metrics.step = position_.step;
  said.metrics.total_steps = order.total_steps;
  said.metrics.epoch = position_.epoch;
  said.metrics.stage = stage;
  said.metrics.time_ns = realtime_ns();
  // If all ranks get the same samples, only rank 0 counts them.
  said.metrics.samples = rank_ == 0 || !runner_.same_data() ? position_.samples : 0;
  said.metrics.unit = unit_;
  said.metrics.units = said.metrics.samples * units_per_sample_;
  if (world_size_ == 1) {
    outputs_.alone.send(std::move(said.metrics));
  } else {
    outputs_.one_of_several.send(std::move(said));
  }
}

}  // namespace trainyard::host
