// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline/stage_link.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>

#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard::pipeline {
namespace {

constexpr std::size_t kMostDimensions = 8;

/// Describes a tensor: its type, its number of dimensions, and its sizes.
using Header = std::array<std::int64_t, 2 + kMostDimensions>;

Elements of(Header& header) { return {header.data(), DType::kInt64, header.size()}; }

}  // namespace

void StageLink::send_shape(const at::Tensor& values) {
  Header header{static_cast<std::int64_t>(dtype_of(values.scalar_type())), values.dim()};
  if (values.dim() > static_cast<std::int64_t>(kMostDimensions)) {
    throw Error(Code::kUnsupported, "a stage gives a tensor of {} dimensions; a pipeline passes on up to {}",
                values.dim(), kMostDimensions);
  }
  std::ranges::copy(values.sizes(), header.begin() + 2);
  ranks_.collective().send(of(header), peer_).wait();
}

StageLink::Shape StageLink::receive_shape() {
  Header header{};
  ranks_.collective().recv(of(header), peer_).wait();
  return {scalar_type_of(static_cast<DType>(header[0])), {header.begin() + 2, header.begin() + 2 + header[1]}};
}

void StageLink::send(const at::Tensor& values, const Key& key) {
  if (told_.insert(key).second) send_shape(values);
  const at::Tensor host = ranks_.moved_to(at::kCPU, values.detach()).contiguous();
  leaving_.push_back({ranks_.collective().send(elements_of(host), peer_), host});
  while (!leaving_.empty() && leaving_.front().work.done()) {
    leaving_.front().work.wait();
    leaving_.pop_front();
  }
}

void StageLink::expect(const Key& key) {
  if (coming_) return;
  auto known = known_.find(key);
  if (known == known_.end()) known = known_.emplace(key, receive_shape()).first;
  const at::Tensor host = at::empty(known->second.sizes, known->second.type);
  coming_ = {ranks_.collective().recv(elements_of(host), peer_), host};
}

at::Tensor StageLink::receive(const Key& key) {
  expect(key);
  coming_->work.wait();
  at::Tensor values = ranks_.moved_to(device_, coming_->host);
  coming_.reset();
  return values;
}

void StageLink::flush() {
  for (Transfer& transfer : leaving_) transfer.work.wait();
  leaving_.clear();
}

}  // namespace trainyard::pipeline
