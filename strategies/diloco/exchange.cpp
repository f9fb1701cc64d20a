// SPDX-License-Identifier: Apache-2.0
#include "strategies/diloco/exchange.h"

#include <fmt/format.h>

#include "tensors/bridge.h"

namespace trainyard {
namespace {

std::string buffer_name(std::size_t index) { return fmt::format("mean_buffer.{}", index); }

}  // namespace

Exchange::Exchange(RankGroup& ranks, const at::Tensor& change, const std::vector<at::Tensor>& buffers,
                   at::ScalarType form)
    : ranks_(ranks), change_(ranks.scratch(change.numel(), at::TensorOptions().dtype(form))) {
  for (const at::Tensor& buffer : buffers) {
    buffers_.push_back(ranks.scratch(buffer.numel(), at::TensorOptions().dtype(buffer.scalar_type())));
  }
}

void Exchange::begin(const at::Tensor& change, const std::vector<at::Tensor>& buffers) {
  change_.copy_(ranks_.moved_to(at::kCPU, change.to(change_.scalar_type())));
  under_way_.push_back(ranks_.all_reduce(change_, ReduceOp::kMean));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    buffers_[i].copy_(ranks_.moved_to(at::kCPU, buffers[i]));
    under_way_.push_back(ranks_.all_reduce(buffers_[i], ReduceOp::kMean));
  }
}

void Exchange::wait() {
  for (Work& work : under_way_) work.wait();
  under_way_.clear();
}

void Exchange::save(StateWriter& into) const {
  into.set("mean_change", message_of(change_.clone()));
  for (std::size_t i = 0; i < buffers_.size(); ++i) into.set(buffer_name(i), message_of(buffers_[i].clone()));
}

void Exchange::restore(const StateReader& from) {
  // The type may differ, because `compression` may have been changed in the launch file.
  const auto read = [&from](const std::string& name, at::Tensor& into) {
    into.copy_(view_of(from.tensor(name, from.tensor(name).dtype, {into.numel()})));
  };
  read("mean_change", change_);
  for (std::size_t i = 0; i < buffers_.size(); ++i) read(buffer_name(i), buffers_[i]);
}

}  // namespace trainyard
