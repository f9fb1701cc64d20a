// SPDX-License-Identifier: Apache-2.0
#include "tests/test_accelerator/window_call.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DeviceGuard.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tests/test_accelerator/backend.h"
#include "tests/test_accelerator/card.h"

namespace trainyard::test_accelerator {
namespace {

bool is_on_card(const at::Tensor& tensor) { return tensor.defined() && tensor.device().type() == c10::kPrivateUse1; }

/// Makes a tensor with the type, shape and strides of `like` over another memory.
at::Tensor tensor_over(const c10::Storage& storage, c10::DispatchKey device, const at::Tensor& like) {
  at::Tensor tensor =
      at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), c10::DispatchKeySet(device), like.dtype());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  return tensor;
}

bool have_same_shape(const at::Tensor& one, const at::Tensor& other) {
  return one.sizes() == other.sizes() && one.strides() == other.strides() &&
         one.storage_offset() == other.storage_offset();
}

/// Returns true for operations whose indices may be on the processor although the other arguments are not.
bool takes_indices_from_host(const std::string& name) {
  for (const char* begin : {"aten::index", "aten::_index_put_impl_"}) {
    if (name.rfind(begin, 0) == 0) return true;
  }
  return false;
}

/// One call of an operation with arguments on a test device. "There" is the device, "here" is the processor.
class WindowCall {
 public:
  explicit WindowCall(const c10::OperatorHandle& op) : op_(op) {}

  void run(torch::jit::Stack& stack) {
    const std::size_t arguments = op_.schema().arguments().size();
    for (std::size_t i = stack.size() - arguments; i < stack.size(); ++i) stack[i] = opened(stack[i]);
    check_devices();
    if (card_) ++card_->operations();
    op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    for (OpenedStorage& storage : storages_) take_grown_memory(storage);
    for (const OpenedTensor& tensor : tensors_) take_new_shape(tensor);
    const std::size_t results = op_.schema().returns().size();
    for (std::size_t i = stack.size() - results; i < stack.size(); ++i) stack[i] = closed(stack[i]);
  }

 private:
  struct OpenedStorage {
    c10::Storage there;
    c10::Storage here;
    const void* window;
  };
  struct OpenedTensor {
    at::Tensor there;
    at::Tensor here;
  };

  void use_card(c10::Device device) {
    const int index = device.has_index() ? device.index() : current_device();
    if (!card_) card_ = Card::of(index);
    TORCH_CHECK(card_->device()->options().index == index, name(), " was given tensors on two test devices");
  }

  std::string name() const { return op_.schema().name(); }

  c10::IValue opened(const c10::IValue& value) {
    if (value.isTensor()) return opened(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(opened(tensor));
      return list;
    }
    if (value.isOptionalTensorList()) {
      auto list = value.toOptionalTensorList().copy();
      for (std::size_t i = 0; i < list.size(); ++i) {
        const auto element = list.get(i);
        if (element) list.set(i, opened(*element));
      }
      return list;
    }
    if (value.isDevice() && value.toDevice().type() == c10::kPrivateUse1) {
      use_card(value.toDevice());
      return c10::Device(c10::kCPU);
    }
    TORCH_CHECK(!value.isStorage(), name(), " with a storage is not implemented for test devices");
    return value;
  }

  at::Tensor opened(const at::Tensor& tensor) {
    if (!is_on_card(tensor)) {
      has_array_of_host_ |= tensor.defined() && tensor.dim() > 0;
      return tensor;
    }
    use_card(tensor.device());
    for (const OpenedTensor& known : tensors_) {
      if (known.there.is_same(tensor)) return known.here;
    }
    at::Tensor here = tensor_over(opened(tensor.storage()), c10::DispatchKey::CPU, tensor);
    tensors_.push_back({tensor, here});
    return here;
  }

  const c10::Storage& opened(const c10::Storage& storage) {
    for (const OpenedStorage& known : storages_) {
      if (known.there.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) return known.here;
    }
    void* window = card_->window(storage.data_ptr().get());
    storages_.push_back({storage,
                         c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(),
                                      c10::DataPtr(window, c10::Device(c10::kCPU)), c10::GetCPUAllocator(),
                                      /*resizable=*/true),
                         window});
    return storages_.back().here;
  }

  void check_devices() const {
    TORCH_CHECK(tensors_.empty() || !has_array_of_host_ || takes_indices_from_host(name()),
                "Expected all tensors to be on the same device, but ", name(),
                " was given some on the processor and some on a test device");
  }

  /// If the kernel has replaced the memory of a storage by a larger one, as `resize_` does, moves the storage on the
  /// device, too.
  void take_grown_memory(OpenedStorage& storage) {
    if (storage.here.data_ptr().get() == storage.window) return;
    const std::size_t bytes = storage.here.nbytes();
    c10::DataPtr grown = card_->take(bytes);
    if (bytes > 0) std::memcpy(card_->window(grown.get()), storage.here.data_ptr().get(), bytes);
    storage.there.set_data_ptr_noswap(std::move(grown));
    storage.there.set_nbytes(bytes);
  }

  void take_new_shape(const OpenedTensor& tensor) const {
    const auto has_storage = [&](const OpenedStorage& known) {
      return known.here.unsafeGetStorageImpl() == tensor.here.storage().unsafeGetStorageImpl();
    };
    TORCH_CHECK(std::any_of(storages_.begin(), storages_.end(), has_storage), name(),
                " has given a tensor another storage, which is not implemented for test devices");
    if (have_same_shape(tensor.here, tensor.there)) return;
    tensor.there.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.here.sizes(), tensor.here.strides(),
                                                              tensor.here.storage_offset());
  }

  c10::IValue closed(const c10::IValue& value) {
    if (value.isTensor()) return closed(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(closed(tensor));
    return list;
  }

  /// Returns the argument itself if the kernel returns an argument, a view if the kernel returns a view of one, and
  /// otherwise a tensor in new memory of the device.
  at::Tensor closed(const at::Tensor& here) {
    if (!here.defined()) return here;
    for (const OpenedTensor& known : tensors_) {
      if (known.here.is_same(here)) return known.there;
    }
    return tensor_over(closed(here.storage()), c10::DispatchKey::PrivateUse1, here);
  }

  const c10::Storage& closed(const c10::Storage& here) {
    for (const OpenedStorage& known : storages_) {
      if (known.here.unsafeGetStorageImpl() == here.unsafeGetStorageImpl()) return known.there;
    }
    c10::DataPtr memory = card_->take(here.nbytes());
    if (here.nbytes() > 0) std::memcpy(card_->window(memory.get()), here.data_ptr().get(), here.nbytes());
    storages_.push_back({c10::Storage(c10::Storage::use_byte_size_t(), here.nbytes(), std::move(memory), allocator(),
                                      /*resizable=*/true),
                         here, here.data_ptr().get()});
    return storages_.back().there;
  }

  const c10::OperatorHandle& op_;
  std::shared_ptr<Card> card_;
  bool has_array_of_host_ = false;
  std::vector<OpenedStorage> storages_;
  std::vector<OpenedTensor> tensors_;
};

}  // namespace

at::Tensor through_window(const at::Tensor& tensor) {
  if (!is_on_card(tensor)) return tensor;
  void* bytes = Card::of(tensor.device().index())->window(tensor.data_ptr());
  return at::from_blob(bytes, tensor.sizes(), tensor.strides(), at::TensorOptions().dtype(tensor.scalar_type()));
}

void compute_through_window(const c10::OperatorHandle& op, torch::jit::Stack* stack) { WindowCall(op).run(*stack); }

}  // namespace trainyard::test_accelerator
