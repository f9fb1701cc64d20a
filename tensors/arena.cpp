#include "tensors/arena.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <span>

#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

constexpr const char* kParameters = "parameters";
constexpr const char* kGradients = "gradients";
constexpr const char* kBuffers = "buffers";

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

/// A one-dimensional tensor over the whole of `block`.
Tensor flat(const Buffer& block, DType dtype) {
  return {.dtype = dtype,
          .shape = {static_cast<std::int64_t>(block.size() / size_of(dtype))},
          .offset = 0,
          .buffer = block};
}

at::Tensor entry_view(const Buffer& block, const ArenaEntry& entry) {
  return view_of({static_cast<DType>(entry.dtype), entry.shape, entry.offset_bytes, block});
}

/// The tensor keeps its identity (the model holds it), its bytes move.
void move_into(const NamedTensor& named, const at::Tensor& place) {
  const at::NoGradGuard no_gradients;
  place.copy_(named.tensor);
  named.tensor.set_data(place);
}

/// The dtype that all parameters share, after a look at what cannot be moved: one flat view needs one type, and
/// autograd only accumulates into leaves.
DType dtype_of_parameters(const std::vector<NamedTensor>& parameters) {
  if (parameters.empty()) throw Error(Code::kInvalidArgument, "the model has {} parameters; at least 1 is needed", 0);
  const NamedTensor& first = parameters.front();
  for (const NamedTensor& named : parameters) {
    if (!named.tensor.is_leaf() || !named.tensor.requires_grad()) {
      throw Error(Code::kInvalidArgument, "parameter '{}' is not a leaf that requires a gradient", named.name);
    }
    if (named.tensor.scalar_type() != first.tensor.scalar_type()) {
      throw Error(Code::kUnsupported, "parameter '{}' is {} while '{}' is {}; all must have one dtype", named.name,
                  at::toString(named.tensor.scalar_type()), first.name, at::toString(first.tensor.scalar_type()));
    }
  }
  return dtype_of(first.tensor.scalar_type());
}

void check_names_differ(const std::vector<ArenaEntry>& entries) {
  std::vector<std::string> names;
  for (const ArenaEntry& entry : entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw Error(Code::kInvalidArgument, "the model has two tensors named '{}'", *twice);
}

}  // namespace

Arena::Arena(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers,
             const Allocate& allocate) {
  const DType dtype = dtype_of_parameters(parameters);
  const std::uint64_t parameter_bytes = lay_out(parameters, kParameters);
  const std::uint64_t buffer_bytes = lay_out(buffers, kBuffers);
  check_names_differ(entries_);
  parameters_block_ = allocate(parameter_bytes);
  gradients_block_ = allocate(parameter_bytes);
  if (buffer_bytes > 0) buffers_block_ = allocate(buffer_bytes);

  // A gradient that is defined before the first backward pass is the place that autograd adds to.
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    move_into(parameters[i], entry_view(parameters_block_, entries_[i]));
    parameters[i].tensor.mutable_grad() = entry_view(gradients_block_, entries_[i]);
    parameter_count_ += static_cast<std::uint64_t>(parameters[i].tensor.numel());
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    move_into(buffers[i], entry_view(buffers_block_, entries_[parameters.size() + i]));
  }
  parameters_ = view_of(flat(parameters_block_, dtype));
  gradients_ = view_of(flat(gradients_block_, dtype));
}

/// Appends an entry for every tensor, one after the other; returns the bytes of the block.
std::uint64_t Arena::lay_out(const std::vector<NamedTensor>& tensors, const std::string& block) {
  std::uint64_t offset = 0;
  for (const NamedTensor& named : tensors) {
    entries_.push_back({.name = named.name,
                        .block = block,
                        .dtype = static_cast<std::uint8_t>(dtype_of(named.tensor.scalar_type())),
                        .shape = named.tensor.sizes().vec(),
                        .offset_bytes = offset});
    offset = aligned(offset + named.tensor.nbytes());
  }
  return offset;
}

std::uint64_t Arena::bytes() const {
  return parameters_block_.size() + gradients_block_.size() + buffers_block_.size();
}

ArenaInfo Arena::info(std::uint32_t rank, const std::string& device, const std::string& model) const {
  const DType dtype = dtype_of(parameters_.scalar_type());
  ArenaInfo info{.rank = rank, .device = device, .model = model, .blocks = {}, .entries = entries_};
  info.blocks.push_back({kParameters, flat(parameters_block_, dtype)});
  info.blocks.push_back({kGradients, flat(gradients_block_, dtype)});
  // Buffers may have different dtypes; the block as a whole is bytes.
  if (has_buffers()) info.blocks.push_back({kBuffers, flat(buffers_block_, DType::kUInt8)});
  return info;
}

}  // namespace trainyard
