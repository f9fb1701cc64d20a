// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/test_device.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "devices/test_device/immediate_stream.h"
#include "devices/test_device/kernel_update.h"
#include "devices/test_device/shared_fence.h"
#include "devices/test_device/timed_stream.h"
#include "messages/error.h"

namespace trainyard::test_device {
namespace {

/// A block in the memory of this process's device or of a device in another process. Only the process that allocated
/// the block frees it.
class MemoryBlock final : public devices::Block {
 public:
  MemoryBlock(DeviceId device, std::shared_ptr<Memory> memory, std::size_t offset, std::size_t bytes, std::string what,
              bool owned)
      : Block(std::move(device), memory->address(offset), bytes, std::move(what)),
        memory_(std::move(memory)),
        offset_(offset),
        owned_(owned) {}
  ~MemoryBlock() override {
    if (owned_) memory_->give_back(offset_);
  }

  std::size_t offset() const { return offset_; }
  bool owned() const { return owned_; }
  std::byte* window() const { return memory_->window(offset_); }

 private:
  std::shared_ptr<Memory> memory_;
  std::size_t offset_;
  bool owned_;
};

std::vector<std::uint8_t> bytes_of(const SharedHandle& handle) {
  std::vector<std::uint8_t> bytes(sizeof handle);
  std::memcpy(bytes.data(), &handle, sizeof handle);
  return bytes;
}

SharedHandle shared_handle_of(const std::vector<std::uint8_t>& bytes) {
  SharedHandle handle;
  if (bytes.size() != sizeof handle) {
    throw Error(Code::kCorrupt, "a handle of the test device has {} bytes, not {}", bytes.size(), sizeof handle);
  }
  std::memcpy(&handle, bytes.data(), sizeof handle);
  return handle;
}

}  // namespace

TestDevice::TestDevice(const Options& options)
    : Device({.kind = kKind, .uuid = fmt::format("{}", options.index)}),
      options_(options),
      memory_(Memory::make(options.memory_bytes)) {}

TestDevice::~TestDevice() = default;

std::shared_ptr<devices::Block> TestDevice::allocate(std::size_t bytes, std::string what) {
  const std::size_t offset = memory_->take(bytes, what);
  return std::make_shared<MemoryBlock>(id(), memory_, offset, bytes, std::move(what), /*owned=*/true);
}

std::unique_ptr<devices::Stream> TestDevice::make_stream(std::string name) {
  return std::make_unique<TimedStream>(*this, std::move(name));
}

std::unique_ptr<devices::Stream> TestDevice::adopt_stream(std::string name, void* native) {
  if (native != nullptr) {
    throw Error(Code::kInvalidArgument, "{} {} was given a stream for '{}'; only null is allowed", id().kind, id().uuid,
                name);
  }
  return std::make_unique<ImmediateStream>(*this, std::move(name));
}

std::shared_ptr<devices::Fence> TestDevice::make_fence() { return SharedFence::make(); }

std::unique_ptr<devices::Update> TestDevice::make_update(devices::Stream& stream, const devices::UpdateRequest& request,
                                                         devices::UpdateRegions regions) {
  return std::make_unique<KernelUpdate>(dynamic_cast<TestStream&>(stream), request, std::move(regions));
}

BlockHandle TestDevice::export_block(const devices::Region& region) {
  const auto* block = dynamic_cast<const MemoryBlock*>(&region.block());
  if (block == nullptr || !block->owned()) {
    throw Error(Code::kInternal, "{} was not allocated by this process, which can therefore not export it",
                region.block().what());
  }
  return {id(), bytes_of(memory_->handle()), block->offset() + region.offset(), region.bytes()};
}

FenceHandle TestDevice::export_fence(const devices::Fence& fence) {
  return {id(), bytes_of(dynamic_cast<const SharedFence&>(fence).handle())};
}

std::shared_ptr<devices::Block> TestDevice::open_block(const BlockHandle& handle) {
  check_is_own(handle.device);
  std::shared_ptr<Memory> memory = opened(shared_handle_of(handle.memory));
  if (handle.offset > memory->bytes() || handle.bytes > memory->bytes() - handle.offset) {
    throw Error(Code::kCorrupt, "a handle says {} bytes from byte {} on; the memory has {} bytes", handle.bytes,
                handle.offset, memory->bytes());
  }
  return std::make_shared<MemoryBlock>(id(), std::move(memory), handle.offset, handle.bytes,
                                       "a block of another process",
                                       /*owned=*/false);
}

std::shared_ptr<devices::Fence> TestDevice::open_fence(const FenceHandle& handle) {
  check_is_own(handle.device);
  return SharedFence::open(shared_handle_of(handle.fence));
}

/// Returns the memory to which `handle` refers. All blocks of a process are in the same memory, which is opened only
/// once.
std::shared_ptr<Memory> TestDevice::opened(const SharedHandle& handle) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Memory>& known = opened_[handle.inode];
  if (std::shared_ptr<Memory> memory = known.lock()) return memory;
  std::shared_ptr<Memory> memory = Memory::open(handle);
  known = memory;
  return memory;
}

std::byte* TestDevice::window(const devices::Region& region) const {
  return dynamic_cast<const MemoryBlock&>(region.block()).window() + region.offset();
}

std::byte* TestDevice::window(const void* address) {
  if (std::byte* found = memory_->window_of(address)) return found;
  const std::lock_guard lock(mutex_);
  for (const auto& [inode, known] : opened_) {
    const std::shared_ptr<Memory> memory = known.lock();
    if (std::byte* found = memory ? memory->window_of(address) : nullptr) return found;
  }
  throw Error(Code::kInternal, "the address {} is not in the memory of {} {}", fmt::ptr(address), id().kind, id().uuid);
}

void TestDevice::add(Done done) {
  const std::lock_guard lock(mutex_);
  if (done.what == std::string_view(kToDevice)) crossed_.to_device += done.link_bytes;
  if (done.what == std::string_view(kToHost)) crossed_.to_host += done.link_bytes;
  if (done_.size() == kMostDone) done_.pop_front();
  done_.push_back(std::move(done));
}

std::vector<Done> TestDevice::take_done() {
  const std::lock_guard lock(mutex_);
  std::vector<Done> taken(std::make_move_iterator(done_.begin()), std::make_move_iterator(done_.end()));
  done_.clear();
  return taken;
}

devices::LinkCount TestDevice::crossed() {
  const std::lock_guard lock(mutex_);
  return crossed_;
}

}  // namespace trainyard::test_device
