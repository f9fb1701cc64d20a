// SPDX-License-Identifier: Apache-2.0
#include "collectives/collective.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "collectives/driver.h"
#include "core/plugin/loader.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using collectives::OperationKind;
using collectives::Request;

constexpr const char* kAuto = "auto";

bool on_one_host(const CollectiveContext& context) {
  const auto hosts = exchange(*context.rendezvous, context.name + "/host", context.rank, context.ranks, host_identity(),
                              context.timeout);
  return !hosts.front().empty() && std::ranges::all_of(hosts, [&](const auto& host) { return host == hosts.front(); });
}

void check_reduction(const std::string& where, DType dtype, ReduceOp op) {
  if (dtype != DType::kBool || op != ReduceOp::kMean) return;
  throw Error(Code::kUnsupported, "{}: there is no mean of bool; allowed are sum, min, max and product", where);
}

}  // namespace

std::string host_identity() {
  std::string identity;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), identity);
  return identity;
}

std::string_view name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kMean:
      return "mean";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kProduct:
      return "product";
  }
  return "invalid";
}

Collective::Collective(CollectiveContext& context)
    : Configurable(context.where, context.parameters), context_(context) {
  const auto found = std::ranges::find(context_.ranks, context_.rank);
  // The collective was constructed only to read its parameters.
  if (context_.ranks.empty()) return;
  if (found == context_.ranks.end()) {
    throw Error(Code::kInvalidArgument, "{}: rank {} is not a member of the group '{}'", context_.where, context_.rank,
                context_.name);
  }
  rank_ = static_cast<std::uint32_t>(found - context_.ranks.begin());
}

Collective::~Collective() = default;

void Collective::connect() {
  check();
  if (size() == 1) return;
  auto engine = std::make_unique<collectives::Engine>(
      collectives::Engine::Settings{context_.name, context_.ranks, rank_, context_.timeout}, open());
  driver_ = collectives::make_driver(where(), std::move(engine));
  barrier().wait();  // No member may leave before all others have connected to it.
}

bool Collective::serves(OperationKind, MemorySpace space) const { return !space.is_device(); }

Buffer Collective::allocate(std::size_t bytes) {
  if (driver_ == nullptr) return collectives::zeroed(bytes);
  Buffer buffer = driver_->transport().allocate(bytes);
  use(buffer);
  return buffer;
}

// The sizes travel inside the handles, because they are checked even if some memory cannot be shared and its handle is
// otherwise empty.
void Collective::use(const Buffer& memory) {
  if (driver_ == nullptr || !driver_->transport().maps_memory()) return;
  std::vector<SharedHandle> handles(size());
  handles[rank()] = memory.shared().value_or(SharedHandle{});
  handles[rank()].bytes = memory.size();
  all_gather({handles.data(), DType::kUInt8, handles.size() * sizeof(SharedHandle)}).wait();
  driver_->map(memory, handles);
}

Work Collective::all_reduce(Elements data, ReduceOp op) {
  check_reduction(where(), data.dtype, op);
  return ask({.kind = OperationKind::kAllReduce, .op = op}, data, parts(data.count, {}));
}

// All elements are the part of the root; the other members have empty parts.
Work Collective::broadcast(Elements data, std::uint32_t root) {
  check_member("the root of a broadcast", root);
  std::vector<std::uint64_t> bounds(size() + 1, 0);
  std::fill(bounds.begin() + root + 1, bounds.end(), data.count);
  return ask({.kind = OperationKind::kBroadcast, .member = root}, data, std::move(bounds));
}

Work Collective::all_gather(Elements data, std::span<const std::uint64_t> bounds) {
  return ask({.kind = OperationKind::kAllGather}, data, parts(data.count, bounds));
}

Work Collective::reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds) {
  check_reduction(where(), data.dtype, op);
  return ask({.kind = OperationKind::kReduceScatter, .op = op}, data, parts(data.count, bounds));
}

Work Collective::barrier() {
  return ask({.kind = OperationKind::kBarrier}, {nullptr, DType::kUInt8, 0}, std::vector<std::uint64_t>(size() + 1));
}

Work Collective::send(Elements data, std::uint32_t to) {
  check_member("the receiver", to);
  if (to == rank_) throw Error(Code::kInvalidArgument, "{}: rank {} cannot send to itself", where(), ranks()[to]);
  return ask({.kind = OperationKind::kSend, .member = to}, data, {});
}

Work Collective::recv(Elements data, std::uint32_t from) {
  check_member("the sender", from);
  if (from == rank_)
    throw Error(Code::kInvalidArgument, "{}: rank {} cannot receive from itself", where(), ranks()[from]);
  return ask({.kind = OperationKind::kRecv, .member = from}, data, {});
}

void Collective::progress() {
  if (driver_ != nullptr) driver_->progress();
}

void Collective::abort(const std::string& reason) noexcept {
  if (driver_ != nullptr) driver_->abort(reason);
}

Work Collective::ask(Request request, Elements data, std::vector<std::uint64_t> bounds) {
  check_space(request.kind, data);
  if (size() == 1) return {};
  if (driver_ == nullptr) throw Error(Code::kInternal, "{}: operations need connect() first", where());
  request.dtype = data.dtype;
  request.count = data.count;
  request.bounds = collectives::hash_of(bounds);
  return {*this, driver_->ask({.request = request, .data = data, .bounds = std::move(bounds)})};
}

std::vector<std::string> Collective::all_gather_texts(const std::string& text) {
  std::vector<std::uint64_t> sizes(size());
  sizes[rank()] = text.size();
  all_gather({sizes.data(), DType::kInt64, sizes.size()}).wait();
  std::vector<std::uint64_t> bounds(size() + 1);
  for (std::uint32_t i = 0; i < size(); ++i) bounds[i + 1] = bounds[i] + sizes[i];
  std::string all(bounds.back(), '\0');
  text.copy(all.data() + bounds[rank()], text.size());
  if (!all.empty()) all_gather({all.data(), DType::kUInt8, all.size()}, bounds).wait();
  std::vector<std::string> texts;
  for (std::uint32_t i = 0; i < size(); ++i) texts.push_back(all.substr(bounds[i], sizes[i]));
  return texts;
}

std::vector<std::uint64_t> Collective::equal_parts(std::uint64_t count, std::uint32_t parts) {
  const std::uint64_t part = (count + parts - 1) / parts;
  std::vector<std::uint64_t> bounds;
  bounds.reserve(parts + 1);
  for (std::uint64_t i = 0; i <= parts; ++i) bounds.push_back(std::min(i * part, count));
  return bounds;
}

std::vector<std::uint64_t> Collective::parts(std::uint64_t count, std::span<const std::uint64_t> bounds) const {
  if (bounds.empty()) return equal_parts(count, size());
  if (bounds.size() == size() + 1 && bounds.front() == 0 && bounds.back() == count && std::ranges::is_sorted(bounds)) {
    return {bounds.begin(), bounds.end()};
  }
  throw Error(Code::kInvalidArgument, "{}: {} bounds from {} to {} do not cut {} elements into {} parts", where(),
              bounds.size(), bounds.front(), bounds.back(), count, size());
}

void Collective::check_space(OperationKind kind, const Elements& data) const {
  if (data.count == 0 || serves(kind, data.space)) return;
  throw Error(Code::kUnsupported, "{}: {} does not work on {}; copy the elements, or choose another collective",
              where(), collectives::name_of(kind), name_of(data.space));
}

void Collective::check_member(std::string_view what, std::uint32_t member) const {
  if (member < size()) return;
  throw Error(Code::kInvalidArgument, "{}: {} is member {} of a group of {}; allowed are 0 to {}", where(), what,
              member, size(), size() - 1);
}

void Work::wait() {
  if (collective_ != nullptr) std::exchange(collective_, nullptr)->driver_->wait(number_);
}

bool Work::done() { return collective_ == nullptr || collective_->driver_->done(number_); }

std::unique_ptr<Collective> make_world(const PluginContext& context, const std::string& name, const PluginSpec& plugin,
                                       std::chrono::milliseconds timeout) {
  CollectiveContext group;
  static_cast<PluginContext&>(group) = context;
  group.name = name;
  for (std::uint32_t rank = 0; rank < context.world_size; ++rank) group.ranks.push_back(rank);
  group.timeout = timeout;
  return make_collective(plugin, group);
}

std::unique_ptr<Collective> make_collective(const PluginSpec& plugin, const CollectiveContext& context) {
  const std::string name = plugin.plugin != kAuto ? plugin.plugin : on_one_host(context) ? "shared_memory" : "tcp";
  CollectiveContext inner = context;
  inner.where = fmt::format("collective '{}' ({}) of {}", name, context.name, context.where);
  inner.parameters = plugin.parameters;
  std::unique_ptr<Collective> made = context.plugins->create<Collective>(name, inner);
  made->check_all_given_are_known();
  made->connect();
  return made;
}

}  // namespace trainyard
