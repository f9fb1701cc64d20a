// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/histogram_report.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tensors/histogram.h"

namespace trainyard::host {
namespace {

/// The largest number of histograms of each kind (activations, gradients, weights) in one message.
constexpr std::uint64_t kMaxOfKind = Histograms::kMaxHistograms / 3;

bool is_whole(const Arena& arena) {
  return arena.shard().begin == 0 && arena.shard().end >= arena.layout().parameter_bytes;
}

}  // namespace

HistogramReport::HistogramReport(Runner& runner, const RunPosition& position, Output<Histograms>& output,
                                 const ComponentContext& context, const Parameter<std::int64_t>& every_steps)
    : runner_(runner), position_(position), output_(output), context_(context), every_steps_(every_steps) {}

// If all ranks have all parameters, their histograms are equal, so only rank 0 reports.
bool HistogramReport::due(std::uint64_t step) const {
  if (muted_ || *every_steps_ == 0 || step % static_cast<std::uint64_t>(*every_steps_) != 0) return false;
  return context_.rank == 0 || !is_whole(runner_.arena());
}

void HistogramReport::begin_step(std::uint64_t step, const Batch& batch) {
  measuring_ = due(step);
  if (!measuring_) return;
  message_ = {.rank = context_.rank,
              .ranks = is_whole(runner_.arena()) ? 1 : context_.world_size,
              .step = step,
              .histograms = {}};
  of_kind_ = 0;
  if (context_.rank != 0 || !runner_.evaluator().has_activations()) return;
  runner_.evaluator().visit_activations(batch, [this](const std::string& stage, const at::Tensor& output) {
    add(stage, HistogramOf::kActivations, output, 1);
  });
}

std::function<void(const StepResult&)> HistogramReport::look_at_gradients() {
  if (!measuring_) return {};
  return [this](const StepResult& result) {
    add_block(runner_.arena().own_gradients(), HistogramOf::kGradients, result.scale);
  };
}

void HistogramReport::end_step() {
  if (!std::exchange(measuring_, false) || muted_) return;
  add_block(runner_.arena().own_parameters(), HistogramOf::kWeights, 1);
  message_.epoch = position_.epoch;
  message_.time_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  output_.send(std::move(message_));
}

void HistogramReport::add_block(const at::Tensor& own, HistogramOf of, double factor) {
  const Arena& arena = runner_.arena();
  const auto size = static_cast<std::uint64_t>(own.element_size());
  of_kind_ = 0;
  for (const ArenaEntry& entry : arena.layout().entries) {
    if (entry.block != "parameters") continue;
    const std::uint64_t bytes = checked_bytes(static_cast<DType>(entry.dtype), entry.shape);
    const std::uint64_t begin = std::max(entry.offset_bytes, arena.shard().begin);
    const std::uint64_t end = std::min(entry.offset_bytes + bytes, arena.shard().end);
    if (begin >= end) continue;
    add(entry.name, of,
        own.narrow(0, static_cast<std::int64_t>((begin - arena.shard().begin) / size),
                   static_cast<std::int64_t>((end - begin) / size)),
        factor);
  }
}

void HistogramReport::add(const std::string& name, HistogramOf of, const at::Tensor& values, double factor) {
  if (++of_kind_ > kMaxOfKind) return;
  Histogram histogram = histogram_of(values, factor);
  histogram.name = name;
  histogram.of = of;
  message_.histograms.push_back(std::move(histogram));
}

}  // namespace trainyard::host
