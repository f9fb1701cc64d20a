// SPDX-License-Identifier: Apache-2.0
#include "tensors/arena.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

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

/// Copies the values of a model's tensor to `place`, and makes the tensor refer to that memory. The tensor object,
/// which the model holds, stays the same.
void move_into(const NamedTensor& named, const at::Tensor& place) {
  const at::NoGradGuard no_gradients;
  place.copy_(named.tensor);
  replace_data(named.tensor, place);
}

/// Returns the dtype that all parameters share, after checking that each parameter can be moved into the arena: a flat
/// view has only one type, and autograd accumulates only into leaves.
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

/// Appends an entry for every tensor, one after the other, and returns the size of the block.
std::uint64_t append(const std::vector<NamedTensor>& tensors, const std::string& block,
                     std::vector<ArenaEntry>& entries) {
  std::uint64_t offset = 0;
  for (const NamedTensor& named : tensors) {
    entries.push_back({.name = named.name,
                       .block = block,
                       .dtype = static_cast<std::uint8_t>(dtype_of(named.tensor.scalar_type())),
                       .shape = named.tensor.sizes().vec(),
                       .offset_bytes = offset});
    offset = aligned(offset + named.tensor.nbytes());
  }
  return offset;
}

/// Returns `entry` with its offset relative to a block that holds only the bytes from `begin` on.
ArenaEntry relative(ArenaEntry entry, std::uint64_t begin) {
  entry.offset_bytes -= begin;
  return entry;
}

}  // namespace

ArenaLayout ArenaLayout::of(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers) {
  ArenaLayout layout;
  layout.dtype = dtype_of_parameters(parameters);
  layout.parameter_bytes = append(parameters, kParameters, layout.entries);
  layout.buffer_bytes = append(buffers, kBuffers, layout.entries);
  check_names_differ(layout.entries);
  return layout;
}

std::uint64_t ArenaShard::block_bytes(std::uint64_t all, bool cut) const {
  return cut ? std::max(std::min(end, all) - begin, kAlignment) : all;
}

std::uint64_t ArenaLayout::bytes_of_rank(const ArenaShard& shard) const {
  return shard.block_bytes(parameter_bytes, shard.parameters) + shard.block_bytes(parameter_bytes, shard.gradients) +
         buffer_bytes;
}

Arena::Arena(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers,
             const Allocate& allocate, const DeviceMemory& own, const ArenaShard& shard)
    : layout_(ArenaLayout::of(parameters, buffers)), shard_(shard) {
  check_shard();
  const auto bytes_of = [this](bool cut) { return shard_.block_bytes(layout_.parameter_bytes, cut); };
  parameters_ = MirroredBlock(allocate(bytes_of(shard_.parameters)), layout_.dtype, own, kParameters);
  gradients_ = MirroredBlock(allocate(bytes_of(shard_.gradients)), layout_.dtype, own, kGradients);
  if (layout_.buffer_bytes > 0) buffers_ = MirroredBlock(allocate(layout_.buffer_bytes), DType::kUInt8, own, kBuffers);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    move_parameter_in(parameters[i], layout_.entries[i]);
    parameter_count_ += static_cast<std::uint64_t>(parameters[i].tensor.numel());
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    move_into(buffers[i], buffers_.entry(layout_.entries[parameters.size() + i]));
  }
  // The host memory must contain the initial values before info() announces it to other components.
  parameters_.to_host(devices::Purpose::kState);
  buffers_.to_host(devices::Purpose::kState);
  if (own.device) device_ = std::make_shared<TensorArena>(own, own_parameters(), own_gradients(), own_regions());
  if (own.native != nullptr) copies_.emplace(*own.native);
}

void Arena::check_shard() {
  if (shard_.end == ArenaShard::kEnd) shard_.end = layout_.parameter_bytes;
  const bool cut = shard_.begin % kAlignment == 0 && shard_.end % kAlignment == 0;
  if (cut && shard_.begin <= shard_.end && shard_.end <= layout_.parameter_bytes) return;
  throw Error(Code::kInvalidArgument,
              "bytes {} to {} are not a shard of {} bytes; allowed are multiples of {} within them", shard_.begin,
              shard_.end, layout_.parameter_bytes, kAlignment);
}

/// Returns true if the whole parameter is inside the shard.
bool Arena::holds(const ArenaEntry& entry) const {
  const std::uint64_t bytes = checked_bytes(static_cast<DType>(entry.dtype), entry.shape);
  return entry.offset_bytes >= shard_.begin && entry.offset_bytes + bytes <= shard_.end;
}

/// Moves a parameter into the block, and defines its gradient before the first backward pass, because autograd adds to
/// an existing gradient in place.
void Arena::move_parameter_in(const NamedTensor& named, const ArenaEntry& entry) {
  if (!shard_.parameters || holds(entry)) {
    move_into(named, parameters_.entry(relative(entry, shard_.parameters ? shard_.begin : 0)));
  } else {
    copy_overlap(named, entry);
  }
  if (shard_.in_place && (!shard_.gradients || holds(entry))) {
    named.tensor.mutable_grad() = gradients_.entry(relative(entry, shard_.gradients ? shard_.begin : 0));
  }
}

/// If a part of a parameter is inside the shard, copies the bytes of this part into the block.
void Arena::copy_overlap(const NamedTensor& named, const ArenaEntry& entry) {
  const std::uint64_t entry_end = entry.offset_bytes + named.tensor.nbytes();
  const std::uint64_t first = std::max(entry.offset_bytes, shard_.begin), last = std::min(entry_end, shard_.end);
  if (first >= last) return;
  const auto size = static_cast<std::uint64_t>(named.tensor.element_size());
  const at::NoGradGuard no_gradients;
  const at::Tensor source = named.tensor.detach().contiguous().view(-1);
  const auto count = static_cast<std::int64_t>((last - first) / size);
  at::Tensor(parameters_.flat())
      .narrow(0, static_cast<std::int64_t>((first - shard_.begin) / size), count)
      .copy_(source.narrow(0, static_cast<std::int64_t>((first - entry.offset_bytes) / size), count));
}

at::Tensor Arena::own_part(const at::Tensor& flat, bool cut) const {
  const auto size = size_of(layout_.dtype);
  const auto begin = static_cast<std::int64_t>((cut ? 0 : shard_.begin) / size);
  return flat.narrow(0, begin, static_cast<std::int64_t>((shard_.end - shard_.begin) / size));
}

Tensor Arena::own_part(Tensor block, bool cut) const {
  if (!cut) block.offset += shard_.begin;
  block.shape = {static_cast<std::int64_t>((shard_.end - shard_.begin) / size_of(layout_.dtype))};
  return block;
}

/// Returns this rank's part of the blocks as memory of the device plugin, if there is one.
std::optional<devices::UpdateRegions> Arena::own_regions() const {
  if (!parameters_.region()) return {};
  const auto part = [this](const MirroredBlock& block, bool cut) {
    return block.region()->part(cut ? 0 : shard_.begin, shard_.end - shard_.begin);
  };
  return devices::UpdateRegions{
      layout_.dtype, part(parameters_, shard_.parameters), part(gradients_, shard_.gradients), {}};
}

std::uint64_t Arena::bytes() const { return layout_.bytes_of_rank(shard_); }

void Arena::publish_gradients() const {
  if (is_updated_on_device()) return;
  if (gradients_.to_host(devices::Purpose::kGradients)) at::Tensor(gradients()).zero_();
}

void Arena::publish(devices::Purpose purpose) const {
  if (is_updated_on_device()) parameters_.to_host(purpose);  // Otherwise the optimizer has changed them in host memory.
  buffers_.to_host(purpose);
}

void Arena::publish_for_snapshot() {
  if (copies_) return begin_snapshot_copies();
  publish(devices::Purpose::kSnapshot);
  if (device_) device_->state_to_host();
}

void Arena::begin_snapshot_copies() {
  std::vector<const MirroredBlock*> blocks;
  if (is_updated_on_device()) blocks.push_back(&parameters_);
  for (const MirroredBlock& state : device_->state()) blocks.push_back(&state);
  copies_->begin(buffers_, blocks);
}

const SharedArena& Arena::share() {
  if (!device_) throw Error(Code::kUnsupported, "an arena in host memory has no memory of a device to share");
  shared_ = device_->share();
  return *shared_;
}

void Arena::adopt(const OptimizerState& state) {
  if (!shared_) {
    throw Error(Code::kInternal, "the optimizer of rank {} works on a device that was not shared with it", state.rank);
  }
  device_->adopt(state);
}

void Arena::begin_update() {
  if (copies_) copies_->hold_changes();
  if (device_) device_->begin_update();
}

void Arena::end_update() {
  if (device_) device_->end_update();
}

ArenaInfo Arena::info(std::uint32_t rank, const std::string& device, const std::string& model) const {
  ArenaInfo info{.rank = rank,
                 .device = device,
                 .model = model,
                 .blocks = {},
                 .entries = layout_.entries,
                 .parameter_bytes = layout_.parameter_bytes,
                 .shard_begin = shard_.begin};
  Tensor parameters = own_part(parameters_.message(), shard_.parameters);
  if (!server_.empty()) {
    parameters = {parameters.dtype, parameters.shape, 0, server_};
    info.shared_state = true;
  }
  info.blocks.push_back({kParameters, std::move(parameters)});
  info.blocks.push_back({kGradients, own_part(gradients_.message(), shard_.gradients)});
  if (has_buffers()) info.blocks.push_back({kBuffers, buffers_.message()});
  if (server_.empty()) {
    info.device_arena = device_;
    info.shared = shared_;
  }
  return info;
}

ArenaEdit::ArenaEdit(Arena& arena) : arena_(arena), exceptions_(std::uncaught_exceptions()) {
  if (arena_.copies_) arena_.copies_->hold_changes();
}

ArenaEdit::~ArenaEdit() noexcept(false) {
  if (std::uncaught_exceptions() > exceptions_) return;
  if (changed_ && !arena_.is_updated_on_device()) arena_.parameters_.to_host(devices::Purpose::kParameters);
  if ((changed_ || fetched_) && arena_.on_change_) arena_.on_change_();
}

const at::Tensor& ArenaEdit::parameters() {
  changed_ = true;
  return arena_.parameters_.flat();
}

void ArenaEdit::fetch_parameters() {
  fetched_ = true;
  if (!arena_.is_updated_on_device()) arena_.parameters_.to_device(devices::Purpose::kParameters);
}

void ArenaEdit::fetch_all() {
  fetched_ = true;
  arena_.parameters_.to_device(devices::Purpose::kState);
  arena_.buffers_.to_device(devices::Purpose::kState);
  if (arena_.device_) arena_.device_->restore_state();
}

}  // namespace trainyard
