// SPDX-License-Identifier: Apache-2.0
#include "tensors/replace_data.h"

#include <typeinfo>

#include "messages/error.h"

namespace trainyard {

void replace_data(const at::Tensor& tensor, const at::Tensor& data) {
  c10::TensorImpl* const target = tensor.unsafeGetTensorImpl();
  c10::TensorImpl* const source = data.unsafeGetTensorImpl();
  if (target->has_compatible_shallow_copy_type(source->key_set())) {
    tensor.set_data(data);
    return;
  }
  // LibTorch's set_data instead checks a list of device types. The copy is safe because both objects have the same C++
  // type and thus the same fields.
  if (typeid(*target) != typeid(c10::TensorImpl) || typeid(*source) != typeid(c10::TensorImpl)) {
    throw Error(Code::kUnsupported,
                "a tensor on {} cannot be moved to {}, whose tensors are of a class of their own; ordinary ones are "
                "needed",
                tensor.device().str(), data.device().str());
  }
  target->shallow_copy_from(data.getIntrusivePtr());
}

}  // namespace trainyard
