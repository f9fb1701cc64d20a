// SPDX-License-Identifier: Apache-2.0
#include "strategies/ddp/power_sgd.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tensors/bridge.h"

namespace trainyard::ddp {

PowerSgd::PowerSgd(RankGroup& ranks, const Arena& arena, const Options& options) : ranks_(ranks), options_(options) {
  for (const ArenaEntry& entry : arena.layout().entries) {
    if (entry.block == "parameters") parts_.push_back(make_part(entry, arena.gradients()));
  }
  lay_out(c10::promoteTypes(arena.gradients().scalar_type(), at::kFloat));
}

PowerSgd::Part PowerSgd::make_part(const ArenaEntry& entry, const at::Tensor& gradients) const {
  std::int64_t count = 1;
  for (const std::int64_t extent : entry.shape) count *= extent;
  const std::int64_t rows = entry.shape.size() > 1 && count > 0 ? entry.shape.front() : 1;
  const std::int64_t columns = count / rows;
  const auto begin = static_cast<std::int64_t>(entry.offset_bytes) / gradients.element_size();
  return {.name = entry.name,
          .offset_bytes = entry.offset_bytes,
          .gradient = gradients.narrow(0, begin, count).view({rows, columns}),
          .whole = options_.rank > std::min(rows, columns) || 2 * options_.rank * (rows + columns) > count};
}

/// Neighbouring parameters are also neighbours in the memory that is sent, so all matrices of a bucket are contiguous
/// and can be reduced by one operation.
void PowerSgd::lay_out(at::ScalarType type) {
  std::int64_t p_elements = 0, q_elements = 0;
  const auto next = [](std::int64_t& end, std::int64_t count) { return std::exchange(end, end + count); };
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const Part& part : parts_) {
    const std::int64_t p = part.whole ? part.gradient.numel() : part.gradient.size(0) * options_.rank;
    const std::int64_t q = part.whole ? 0 : part.gradient.size(1) * options_.rank;
    places.emplace_back(next(p_elements, p), next(q_elements, q));
  }
  const at::TensorOptions options = at::TensorOptions().dtype(type);
  const at::Tensor all_p = ranks_.scratch(p_elements, options), all_q = ranks_.scratch(q_elements, options);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const auto place = [](const at::Tensor& all, std::int64_t begin, std::int64_t rows, std::int64_t columns) {
      return all.narrow(0, begin, rows * columns).view({rows, columns});
    };
    const std::int64_t rows = part.gradient.size(0), columns = part.gradient.size(1);
    part.p = place(all_p, places[i].first, rows, part.whole ? columns : options_.rank);
    if (part.whole) continue;
    part.q = place(all_q, places[i].second, columns, options_.rank);
    part.error = at::zeros_like(part.gradient, part.gradient.options().dtype(type));
    draw_start(i);
  }
}

void PowerSgd::draw_start(std::size_t part) {
  const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(options_.seed + part);
  parts_[part].q.copy_(at::randn(parts_[part].q.sizes(), generator, parts_[part].q.options()));
}

void PowerSgd::save_state(StateWriter& into) const {
  const auto copy = [](const at::Tensor& tensor) {
    return message_of(tensor.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true));
  };
  into.set("step", step_);
  for (const Part& part : parts_) {
    if (part.whole) continue;
    into.set("q/" + part.name, copy(part.q));
    into.set("error/" + part.name, copy(part.error), StateScope::kRank);
  }
}

void PowerSgd::restore_state(const StateReader& from) {
  const auto read = [&from](const std::string& name, at::Tensor& into) {
    into.copy_(view_of(from.tensor(name, dtype_of(into.scalar_type()), into.sizes().vec())));
  };
  step_ = from.count("step");
  for (Part& part : parts_) {
    if (part.whole) continue;
    read("q/" + part.name, part.q);
    // The run that saved the checkpoint may have had fewer ranks. The error of an additional rank is zero.
    if (from.has("error/" + part.name)) read("error/" + part.name, part.error);
  }
}

PowerSgd::Range PowerSgd::parts_of(const Bucket& bucket) const {
  Range range{.begin = 0, .end = parts_.size()};
  while (range.begin < range.end && parts_[range.begin].offset_bytes < bucket.offset_bytes) ++range.begin;
  while (range.end > range.begin && parts_[range.end - 1].offset_bytes >= bucket.offset_bytes + bucket.bytes)
    --range.end;
  return range;
}

Work PowerSgd::reduce(const Bucket& bucket, const at::Tensor& gradients, double loss_scale) {
  if (bucket.index == 0) ++step_;
  if (travels_whole()) return ranks_.all_reduce(gradients, ReduceOp::kMean);
  const Range range = parts_of(bucket);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    Part& part = parts_[i];
    if (part.whole) {
      ranks_.copy(part.gradient, part.p);
      continue;
    }
    // `error` now contains M, until finish() subtracts the approximation.
    part.error.add_(part.gradient, 1 / loss_scale);
    ranks_.copy(at::mm(part.error, ranks_.moved_to(part.error.device(), part.q)), part.p);
  }
  return average_places(&Part::p, range);
}

Work PowerSgd::average_places(at::Tensor Part::*place, const Range& range) {
  std::int64_t count = 0;
  at::Tensor first;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const at::Tensor& one = parts_[i].*place;
    if (!one.defined()) continue;
    if (!first.defined()) first = one;
    count += one.numel();
  }
  if (count == 0) return {};
  return ranks_.collective().all_reduce({first.data_ptr(), elements_of(first).dtype, static_cast<std::uint64_t>(count)},
                                        ReduceOp::kMean);
}

/// P is the same on all ranks, so all ranks take the same branch if it is not finite.
void PowerSgd::finish(const Bucket& bucket, const at::Tensor& /*gradients*/, double loss_scale) {
  if (travels_whole()) return;
  const Range range = parts_of(bucket);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    Part& part = parts_[i];
    if (!std::isfinite(part.p.sum().item<double>())) return start_anew(range);
    if (part.whole) continue;
    // The QR decomposition (by Householder reflections) returns orthonormal columns even if P does not have full rank.
    part.p.copy_(std::get<0>(at::linalg_qr(part.p)));
    const at::Tensor p = ranks_.moved_to(part.error.device(), part.p);
    const at::Tensor q = at::mm(part.error.t(), p);
    part.error.addmm_(p, q.t(), 1, -1);
    ranks_.copy(q, part.q);
  }
  average_places(&Part::q, range).wait();
  for (std::size_t i = range.begin; i < range.end; ++i) {
    Part& part = parts_[i];
    if (part.whole) {
      ranks_.copy(part.p, part.gradient);
    } else {
      // q is much smaller than the product, so it is scaled instead of the product.
      const at::Tensor q = loss_scale == 1 ? part.q : part.q.mul(loss_scale);
      ranks_.copy(at::mm(part.p, q.t()), part.gradient);
    }
  }
}

/// Called when gradients overflowed on some rank. Makes the gradients infinite, so that the step is skipped, and
/// removes the overflow from the error.
void PowerSgd::start_anew(const Range& range) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    Part& part = parts_[i];
    part.gradient.fill_(std::numeric_limits<float>::infinity());
    if (part.whole) continue;
    part.error.zero_();
    draw_start(i);
  }
}

}  // namespace trainyard::ddp
