// SPDX-License-Identifier: Apache-2.0
#include "strategies/fsdp/sharded_group.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "strategies/shards.h"
#include "tensors/replace_data.h"

namespace trainyard::fsdp {

ShardedGroup::ShardedGroup(ParameterGroup group, const Arena& arena, const std::vector<NamedTensor>& parameters,
                           std::span<const std::uint64_t> parts, RankGroup& ranks)
    : ranks_(ranks),
      group_(std::move(group)),
      own_parameters_(arena.own_parameters()),
      own_gradients_(arena.own_gradients()) {
  const std::uint64_t size = size_of(arena.layout().dtype);
  block_ = BorrowedBlock(static_cast<std::int64_t>(group_.bytes / size), own_parameters_.options());
  for (const ParameterGroup::Member& member : group_.members) {
    members_.push_back(parameters[member.parameter].tensor);
    replace_data(members_.back(), block_.view(static_cast<std::int64_t>(member.place / size), members_.back().sizes()));
  }
  cut(arena, parts);
}

void ShardedGroup::cut(const Arena& arena, std::span<const std::uint64_t> parts) {
  const std::uint64_t size = size_of(arena.layout().dtype);
  const auto elements = [size](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes / size); };
  const ArenaShard& shard = arena.shard();
  for (const ParameterGroup::Run& run : group_.runs) {
    Part part{.place = elements(run.place),
              .count = elements(run.bytes),
              .bounds = bounds_within(parts, run.offset, run.bytes, size)};
    const std::uint64_t begin = std::max(run.offset, shard.begin), end = std::min(run.offset + run.bytes, shard.end);
    if (begin < end) {
      part.own_place = elements(run.place + begin - run.offset);
      part.own_count = elements(end - begin);
      part.shard_place = elements(begin - shard.begin);
    }
    parts_.push_back(std::move(part));
  }
}

void ShardedGroup::gather(const at::Tensor& memory) {
  const at::NoGradGuard no_gradients;
  coming_ = memory.narrow(0, 0, elements());
  for (const Part& part : parts_) {
    coming_.narrow(0, part.own_place, part.own_count)
        .copy_(own_parameters_.narrow(0, part.shard_place, part.own_count));
    under_way_.push_back(ranks_.all_gather(coming_.narrow(0, part.place, part.count), part.bounds));
  }
}

void ShardedGroup::wait() {
  for (Work& work : under_way_) work.wait();
  under_way_.clear();
  block_.lend(std::exchange(coming_, at::Tensor()));
}

void ShardedGroup::collect_gradients(const at::Tensor& memory) {
  const at::NoGradGuard no_gradients;
  gradients_ = memory.narrow(0, 0, elements());
  gradients_.zero_();
  const auto size = static_cast<std::uint64_t>(gradients_.element_size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto place = static_cast<std::int64_t>(group_.members[i].place / size);
    members_[i].mutable_grad() = gradients_.narrow(0, place, members_[i].numel()).view(members_[i].sizes());
  }
}

void ShardedGroup::reduce() {
  for (const at::Tensor& member : members_) member.mutable_grad() = at::Tensor();
  for (const Part& part : parts_) {
    under_way_.push_back(
        ranks_.reduce_scatter(gradients_.narrow(0, part.place, part.count), ReduceOp::kMean, part.bounds));
  }
}

void ShardedGroup::add_reduced() {
  if (!gradients_.defined()) return;
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    under_way_[i].wait();
    own_gradients_.narrow(0, part.shard_place, part.own_count)
        .add_(gradients_.narrow(0, part.own_place, part.own_count));
  }
  under_way_.clear();
  gradients_ = at::Tensor();
}

}  // namespace trainyard::fsdp
