// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/prepare_model.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "messages/error.h"
#include "tensors/arena.h"

namespace trainyard {
namespace {

/// Returns the line of `text` that contains `place`, for an error message.
std::string line_at(const std::string& text, std::string::const_iterator place) {
  const auto offset = static_cast<std::size_t>(place - text.begin());
  const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const std::string line = text.substr(begin, text.find('\n', offset) - begin);
  return line.empty() ? "nothing more" : line;
}

}  // namespace

void apply_precision(Model& model, const Precision& precision) {
  const at::NoGradGuard no_gradients;
  for (const std::vector<NamedTensor>& tensors : {model.parameters(), model.buffers()}) {
    for (const NamedTensor& named : tensors) {
      at::Tensor tensor = named.tensor;
      const at::Tensor converted = with_precision(tensor.detach(), precision);
      if (converted.scalar_type() != tensor.scalar_type()) tensor.set_data(converted);
    }
  }
}

void check_same_model(Model& model, RankGroup& ranks, const std::string& where) {
  if (ranks.is_alone()) return;
  std::string own;
  for (const ArenaEntry& entry : ArenaLayout::of(model.parameters(), model.buffers()).entries) {
    own += fmt::format("{} {} {}\n", entry.name, name_of(static_cast<DType>(entry.dtype)), to_text(entry.shape));
  }
  const std::vector<std::string> all = ranks.all_gather_texts(own);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const auto [zero, other] = std::ranges::mismatch(all[0], all[rank]);
    throw Error(Code::kShapeMismatch, "{}: the ranks have different models: where rank 0 has '{}', rank {} has '{}'",
                where, line_at(all[0], zero), rank, line_at(all[rank], other));
  }
}

}  // namespace trainyard
