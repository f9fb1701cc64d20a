#include "tensors/arena.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <span>

#include "messages/error.h"
#include "tensors/bridge.h"
#include "tensors/replace_data.h"

namespace trainyard {
namespace {

constexpr const char* kParameters = "parameters";
constexpr const char* kGradients = "gradients";
constexpr const char* kBuffers = "buffers";

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

/// The tensor keeps its identity (the model holds it), its bytes move.
void move_into(const NamedTensor& named, const at::Tensor& place) {
  const at::NoGradGuard no_gradients;
  place.copy_(named.tensor);
  replace_data(named.tensor, place);
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
             const Allocate& allocate, const DeviceMemory& own) {
  const DType dtype = dtype_of_parameters(parameters);
  const std::uint64_t parameter_bytes = lay_out(parameters, kParameters);
  const std::uint64_t buffer_bytes = lay_out(buffers, kBuffers);
  check_names_differ(entries_);
  parameters_ = MirroredBlock(allocate(parameter_bytes), dtype, own);
  gradients_ = MirroredBlock(allocate(parameter_bytes), dtype, own);
  if (buffer_bytes > 0) buffers_ = MirroredBlock(allocate(buffer_bytes), DType::kUInt8, own);

  // A gradient that is defined before the first backward pass is the place that autograd adds to.
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    move_into(parameters[i], parameters_.entry(entries_[i]));
    parameters[i].tensor.mutable_grad() = gradients_.entry(entries_[i]);
    parameter_count_ += static_cast<std::uint64_t>(parameters[i].tensor.numel());
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    move_into(buffers[i], buffers_.entry(entries_[parameters.size() + i]));
  }
  // Whoever reads the announced blocks finds the initial values there.
  publish_parameters();
  publish_buffers();
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

std::uint64_t Arena::bytes() const { return parameters_.bytes() + gradients_.bytes() + buffers_.bytes(); }

void Arena::publish_gradients() const {
  if (gradients_.to_host()) at::Tensor(gradients()).zero_();
}

void Arena::fetch_all() const {
  parameters_.to_device();
  buffers_.to_device();
}

ArenaInfo Arena::info(std::uint32_t rank, const std::string& device, const std::string& model) const {
  ArenaInfo info{.rank = rank, .device = device, .model = model, .blocks = {}, .entries = entries_};
  info.blocks.push_back({kParameters, parameters_.message()});
  info.blocks.push_back({kGradients, gradients_.message()});
  if (has_buffers()) info.blocks.push_back({kBuffers, buffers_.message()});
  return info;
}

}  // namespace trainyard
