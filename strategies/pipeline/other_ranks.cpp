// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline/other_ranks.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "tensors/replace_data.h"

namespace trainyard::pipeline {

OtherRanks::OtherRanks(Model& model, const Arena& arena, const Segment& segment, World& world)
    : arena_(arena), segment_(segment), world_(world) {
  const std::vector<NamedTensor> parameters = model.parameters();
  const std::uint64_t size = size_of(arena.layout().dtype);
  const ArenaShard& own = arena.shard();
  parameters_ =
      BorrowedBlock(static_cast<std::int64_t>(arena.layout().parameter_bytes / size), arena.parameters().options());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ArenaEntry& entry = arena.layout().entries[i];
    if (entry.offset_bytes >= own.begin && entry.offset_bytes < own.end) continue;
    replace_data(parameters[i].tensor,
                 parameters_.view(static_cast<std::int64_t>(entry.offset_bytes / size), entry.shape));
  }
}

void OtherRanks::gather_parameters() {
  if (world_.is_alone() || parameters_.has_memory()) return;
  gather_buffers();
  const at::NoGradGuard no_gradients;
  const at::Tensor memory = at::empty({parameters_.flat().numel()}, arena_.parameters().options());
  const auto size = static_cast<std::uint64_t>(memory.element_size());
  for (std::uint32_t one = 0; one < segment_.ranks(); ++one) {
    const auto begin = static_cast<std::int64_t>(segment_.placement().bytes[one] / size);
    const auto end = static_cast<std::int64_t>(segment_.placement().bytes[one + 1] / size);
    const bool own = one == segment_.rank();
    world_.broadcast(own ? arena_.own_parameters() : memory.narrow(0, begin, end - begin), one).wait();
  }
  parameters_.lend(memory);
}

void OtherRanks::gather_buffers() const {
  if (world_.is_alone() || !arena_.has_buffers()) return;
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < segment_.stages().size(); ++i) {
    for (const NamedTensor& buffer : segment_.stages()[i].buffers) {
      const auto owner = static_cast<std::uint32_t>(segment_.placement().rank_of_stage(i));
      world_.broadcast(buffer.tensor.view(-1), owner).wait();
    }
  }
}

}  // namespace trainyard::pipeline
