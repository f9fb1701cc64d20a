// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "core/traits/plugin_traits.h"
#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

/// Returns a copy in host memory, which a collective operation may change.
at::Tensor host_copy(const at::Tensor& tensor) { return tensor.detach().to(at::kCPU).contiguous().clone(); }

Elements whole(const at::Tensor& tensor) {
  return {tensor.data_ptr(), dtype_of(tensor.scalar_type()), static_cast<std::uint64_t>(tensor.numel())};
}

}  // namespace

core::PluginTraits Model::declared_traits() const { return {traits()}; }

Prediction Model::predict(const ModelBatch& batch) {
  throw Error(Code::kUnsupported, "{} cannot predict (asked for split '{}'); it only trains and evaluates", where(),
              batch.split);
}

Collective* Model::world() {
  if (world_ == nullptr && make_world_) world_ = make_world_();
  return world_.get();
}

at::Tensor Model::sync_tensor(const at::Tensor& tensor, ReduceOp op) {
  Collective* const ranks = world();
  if (ranks == nullptr) return tensor.detach();
  const at::NoGradGuard no_gradients;
  const at::Tensor copy = host_copy(tensor);
  ranks->all_reduce(whole(copy), op).wait();
  return copy.to(tensor.device());
}

at::Tensor Model::all_gather(const at::Tensor& tensor) {
  Collective* const ranks = world();
  if (ranks == nullptr) return tensor.detach().unsqueeze(0);
  const at::NoGradGuard no_gradients;
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape.insert(shape.begin(), ranks->size());
  at::Tensor all = at::zeros(shape, tensor.options().device(at::kCPU).requires_grad(false));
  all.select(0, ranks->rank()).copy_(tensor.detach());
  ranks->all_gather(whole(all)).wait();
  return all.to(tensor.device());
}

at::Tensor Model::broadcast(const at::Tensor& tensor, std::uint32_t root) {
  Collective* const ranks = world();
  if (ranks == nullptr) return tensor.detach();
  const at::NoGradGuard no_gradients;
  const at::Tensor copy = host_copy(tensor);
  ranks->broadcast(whole(copy), root).wait();
  return copy.to(tensor.device());
}

at::Tensor Model::loss(const at::Tensor& /*output*/, const ModelBatch& /*batch*/) {
  throw Error(Code::kUnsupported, "{} is one piece: it has no stages", where());
}

std::vector<NamedMetric> Model::metrics(const at::Tensor& /*output*/, const ModelBatch& /*batch*/) {
  throw Error(Code::kUnsupported, "{} is one piece: it has no stages", where());
}

}  // namespace trainyard
