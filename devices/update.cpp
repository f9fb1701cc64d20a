// SPDX-License-Identifier: Apache-2.0
#include "devices/update.h"

#include "messages/error.h"

namespace trainyard::devices {
namespace {

void check_range(const UpdateRange& range, std::uint64_t elements) {
  if (range.begin <= elements && range.count <= elements - range.begin) return;
  throw Error(Code::kShapeMismatch, "an update of {} elements from element {} on is beyond the {} elements of the rank",
              range.count, range.begin, elements);
}

void check_state(const Tensor& block, DType wanted, std::uint64_t elements) {
  if (block.offset == 0 && block.dtype == wanted && static_cast<std::uint64_t>(block.elements()) == elements) return;
  throw Error(Code::kShapeMismatch, "a block of optimizer state is {} {}; it must be {} [{}]", name_of(block.dtype),
              to_text(block.shape), name_of(wanted), elements);
}

}  // namespace

void check(const UpdateRequest& request, DType parameters, std::uint64_t elements) {
  const DType state = state_type_of(parameters);
  for (const UpdateRange& range : request.ranges) check_range(range, elements);
  const std::size_t states = states_of(request.formula);
  if (request.state.size() != states) {
    throw Error(Code::kShapeMismatch, "the formula has {} state blocks, {} were given", states, request.state.size());
  }
  for (const Tensor& block : request.state) check_state(block, state, elements);
}

DType state_type_of(DType parameters) {
  switch (parameters) {
    case DType::kFloat64:
      return DType::kFloat64;
    case DType::kFloat32:
    case DType::kBFloat16:
    case DType::kFloat16:
      return DType::kFloat32;
    default:
      throw Error(Code::kUnsupported,
                  "the optimizer was given {} parameters; float64, float32, bfloat16 and float16 are supported",
                  name_of(parameters));
  }
}

}  // namespace trainyard::devices
