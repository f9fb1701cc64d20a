#include "collectives/shared_memory/shared_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "messages/error.h"

namespace trainyard {

using shared_memory::Kind;

namespace {

constexpr std::size_t kStagingUnit = 4096;

/// To whole cache lines, or pages.
std::size_t rounded_up(std::int64_t bytes, std::size_t unit) {
  return (static_cast<std::size_t>(bytes) + unit - 1) / unit * unit;
}

}  // namespace

SharedMemory::SharedMemory(CollectiveContext& context) : Collective(context) {}

void SharedMemory::connect() {
  if (size() == 1) return;
  shared_memory::Layout layout;
  layout.members = size();
  layout.slot_bytes = rounded_up(*small_bytes_, shared_memory::kLine);
  // Each of four buffers has a section for each member.
  layout.staging_bytes = std::max(rounded_up(*staging_bytes_, kStagingUnit), size() * kStagingUnit);
  layout.ring_bytes = std::bit_ceil(static_cast<std::size_t>(*ring_bytes_));
  group_ = std::make_unique<shared_memory::Group>(context(), rank(), layout);
  shared_memory::Engine::Settings settings;
  settings.where = where();
  settings.ranks = ranks();
  settings.timeout = context().timeout;
  settings.spin = std::chrono::microseconds(*spin_us_);
  settings.chunk_bytes = static_cast<std::uint64_t>(*chunk_bytes_);
  engine_ = std::make_unique<shared_memory::Engine>(*group_, blocks_, settings);
  barrier().wait();  // Nobody leaves before all have mapped its memory.
}

Buffer SharedMemory::allocate(std::size_t bytes) {
  Buffer buffer = pool_.allocate_permanent(bytes);
  use(buffer);
  return buffer;
}

void SharedMemory::use(const Buffer& memory) {
  if (engine_ == nullptr) return;
  // Gathered as bytes; the size is that of the memory also where there is no handle.
  std::vector<SharedHandle> handles(size());
  handles[rank()] = memory.shared().value_or(SharedHandle{});
  handles[rank()].bytes = memory.size();
  all_gather({handles.data(), DType::kUInt8, handles.size() * sizeof(SharedHandle)}, {}).wait();
  for (std::uint32_t member = 1; member < size(); ++member) {
    if (handles[member].bytes == handles[0].bytes) continue;
    engine_->fail(Code::kShapeMismatch, fmt::format("{} uses memory of {} bytes, {} of {} bytes", member_name(0),
                                                    handles[0].bytes, member_name(member), handles[member].bytes));
  }
  for (const SharedHandle& handle : handles) {
    if (handle.fd < 0) return;  // Somebody's cannot be reached: all go through staging memory.
  }
  try {
    blocks_.add(shared_memory::map_block(memory, handles, rank()));
  } catch (const Error& error) {
    engine_->fail(error.code(), fmt::format("{}: {}", member_name(rank()), error.what()));
  }
}

void SharedMemory::check_member(std::uint32_t member) const {
  if (member < size()) return;
  throw Error(Code::kInvalidArgument, "{}: there is no member {} in a group of {}", where(), member, size());
}

Work SharedMemory::ask(Kind kind, Elements data, std::vector<std::uint64_t> bounds, std::uint32_t root) {
  return ask({.request = {data.count, shared_memory::hash_of(bounds), root, kind, ReduceOp::kSum, data.dtype},
              .data = static_cast<std::byte*>(data.data),
              .bounds = std::move(bounds)});
}

Work SharedMemory::ask(shared_memory::Operation operation) { return {*this, engine_->ask(std::move(operation))}; }

std::vector<std::uint64_t> SharedMemory::parts(Elements data, std::span<const std::uint64_t> bounds) const {
  check_bounds(data.count, bounds);
  return bounds.empty() ? equal_parts(data.count, size()) : std::vector<std::uint64_t>(bounds.begin(), bounds.end());
}

Work SharedMemory::reduce(Kind kind, Elements data, ReduceOp op, std::span<const std::uint64_t> bounds) {
  const auto reduce = shared_memory::best_kernels().reduce[static_cast<int>(data.dtype)][static_cast<int>(op)];
  if (reduce == nullptr) {
    throw Error(Code::kUnsupported, "{}: there is no {} of {}", where(), name_of(op), name_of(data.dtype));
  }
  auto cuts = parts(data, bounds);
  if (size() == 1) return {};
  return ask({.request = {data.count, shared_memory::hash_of(cuts), 0, kind, op, data.dtype},
              .data = static_cast<std::byte*>(data.data),
              .bounds = std::move(cuts),
              .reduce = reduce});
}

Work SharedMemory::all_reduce(Elements data, ReduceOp op) { return reduce(Kind::kAllReduce, data, op, {}); }

Work SharedMemory::reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds) {
  return reduce(Kind::kReduceScatter, data, op, bounds);
}

Work SharedMemory::all_gather(Elements data, std::span<const std::uint64_t> bounds) {
  auto cuts = parts(data, bounds);
  if (size() == 1) return {};
  return ask(Kind::kAllGather, data, std::move(cuts));
}

// An all_gather of which everything is the root's part.
Work SharedMemory::broadcast(Elements data, std::uint32_t root) {
  check_member(root);
  if (size() == 1) return {};
  std::vector<std::uint64_t> cuts(size() + 1, 0);
  std::fill(cuts.begin() + root + 1, cuts.end(), data.count);
  return ask(Kind::kBroadcast, data, std::move(cuts), root);
}

Work SharedMemory::barrier() {
  if (size() == 1) return {};
  return ask(Kind::kBarrier, {nullptr, DType::kUInt8, 0}, std::vector<std::uint64_t>(size() + 1, 0));
}

Work SharedMemory::message(Kind kind, Elements data, std::uint32_t peer) {
  check_member(peer);
  if (peer == rank()) {
    throw Error(Code::kInvalidArgument, "{}: {} cannot send to itself", where(), member_name(peer));
  }
  return ask({.request = {data.count, 0, 0, kind, ReduceOp::kSum, data.dtype},
              .data = static_cast<std::byte*>(data.data),
              .peer = peer});
}

Work SharedMemory::send(Elements data, std::uint32_t to) { return message(Kind::kSend, data, to); }

Work SharedMemory::recv(Elements data, std::uint32_t from) { return message(Kind::kRecv, data, from); }

void SharedMemory::progress() {
  if (engine_ != nullptr) engine_->progress();
}

void SharedMemory::wait(std::uint64_t number) { engine_->wait(number); }

bool SharedMemory::done(std::uint64_t number) { return engine_->done(number); }

}  // namespace trainyard

TRAINYARD_COLLECTIVE(trainyard::SharedMemory, "shared_memory",
                     "between processes of one host, through memory that all have mapped")
