// SPDX-License-Identifier: Apache-2.0
#include "strategies/hierarchical/hierarchical.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace trainyard {
void Hierarchical::prepare_reduction() {
  std::vector<std::uint32_t> leaders;
  for (const std::vector<std::uint32_t>& ranks : hosts()) {
    leaders.push_back(ranks.front());
    if (ranks.size() == 1 || std::ranges::find(ranks, context().rank) == ranks.end()) continue;
    inside_ = world().make_group(fmt::format("host_of_rank{}", ranks.front()), ranks);
    inside_.use(arena().gradient_memory());
  }
  if (leaders.size() == 1 || !leads()) return;
  across_ = world().make_group("leaders", leaders);
  across_.use(arena().gradient_memory());
}

/// Returns the ranks of every host, in the order of the hosts' first ranks.
std::vector<std::vector<std::uint32_t>> Hierarchical::hosts() const {
  // Several hosts of a run can be containers of one machine, so the text also contains the number of the host.
  const std::string place = host_identity();
  const std::vector<std::string> places =
      world().all_gather_texts(place.empty() ? "" : fmt::format("{} {}", place, context().host));
  std::vector<std::vector<std::uint32_t>> hosts;
  std::vector<std::string> names;
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
    std::string name = places[rank].empty() ? std::to_string(rank) : places[rank];
    if (*ranks_per_host_ > 0) name = std::to_string(static_cast<std::int64_t>(rank) / *ranks_per_host_);
    const auto index = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (index == names.size()) {
      names.push_back(name);
      hosts.emplace_back();
    }
    hosts[index].push_back(rank);
  }
  return hosts;
}

/// The first stage is a reduce_scatter whose bounds give all elements to the first rank of the host.
Work Hierarchical::reduce(const Bucket& /*bucket*/, const at::Tensor& gradients) {
  Stages& stages = under_way_.emplace_back();
  stages.host = world().moved_to(at::kCPU, gradients);
  stages.gradients = gradients;
  std::vector<std::uint64_t> bounds(inside_.size() + 1, static_cast<std::uint64_t>(stages.host.numel()));
  bounds.front() = 0;
  stages.inside = inside_.reduce_scatter(stages.host, ReduceOp::kSum, bounds);
  progress();
  return {};
}

/// The second stages begin in the order of the buckets, so that all first ranks reduce the same bucket at a time.
void Hierarchical::progress() {
  inside_.progress();
  if (across_.is_alone()) return;
  across_.progress();
  for (Stages& stages : under_way_) {
    if (stages.crossing) continue;
    if (!stages.inside.done()) return;
    cross(stages);
  }
}

void Hierarchical::cross(Stages& stages) {
  stages.inside.wait();
  if (!stages.crossing) stages.across = across_.all_reduce(stages.host, ReduceOp::kSum);
  stages.crossing = true;
}

void Hierarchical::go_back(Stages& stages) {
  stages.across.wait();
  if (leads()) stages.host.div_(static_cast<double>(world().size()));
  stages.back = inside_.broadcast(stages.host, 0);
}

/// All ranks of a host must start the operations of their group in the same order: first all first stages, then all
/// third stages.
void Hierarchical::complete_reduction() {
  const TraceSpan span(trace(), "wait for hosts", SpanKind::kCollective);
  for (Stages& stages : under_way_) cross(stages);
  for (Stages& stages : under_way_) go_back(stages);
  for (Stages& stages : under_way_) {
    stages.back.wait();
    if (!stages.host.is_same(stages.gradients)) world().copy(stages.host, stages.gradients);
  }
  under_way_.clear();
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Hierarchical, "hierarchical",
                   "Gradients are averaged within hosts, then between hosts, for slow links between hosts.")
