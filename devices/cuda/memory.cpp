// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "devices/cuda/calls.h"
#include "messages/error.h"

namespace trainyard::cuda_device {
namespace {

/// The driver puts several smaller allocations into one piece of this size, and can only share whole pieces. So every
/// allocation of ours consists of whole pieces.
constexpr std::size_t kPiece = std::size_t{2} << 20;

std::size_t whole_pieces(std::size_t bytes) {
  if (bytes > ~std::size_t{0} - kPiece) return bytes;  // The driver will refuse it.
  return std::max<std::size_t>(1, (bytes + kPiece - 1) / kPiece) * kPiece;
}

/// Makes the page that shows that an allocation exists; see MemoryHandle::page.
std::shared_ptr<core::MemoryFile> page_of(std::uint64_t bytes) {
  auto page = std::make_shared<core::MemoryFile>(core::MemoryFile::make(core::kPage));
  if (::pwrite(page->fd(), &bytes, sizeof bytes, 0) != sizeof bytes) {
    throw Error(Code::kIo, "cannot write the size of an allocation: {}", std::strerror(errno));
  }
  return page;
}

/// Returns the size of the allocation to which the handle refers. Throws kPeerLost if it no longer exists.
std::uint64_t size_of_allocation(const MemoryHandle& handle) {
  if (handle.page.segment_bytes != core::kPage) {
    throw Error(Code::kCorrupt, "the page of an allocation has {} bytes, the handle says {}", core::kPage,
                handle.page.segment_bytes);
  }
  const core::MemoryFile page = core::MemoryFile::open(handle.page);
  std::uint64_t bytes = 0;
  if (::pread(page.fd(), &bytes, sizeof bytes, 0) != sizeof bytes) {
    throw Error(Code::kCorrupt, "the size of an allocation cannot be read: {}", std::strerror(errno));
  }
  return bytes;
}

/// A part of an allocation of another process, or of a block of this process.
class OpenedBlock final : public devices::Block {
 public:
  OpenedBlock(DeviceId device, std::shared_ptr<void> owner, std::byte* address, std::size_t bytes, std::string what)
      : Block(std::move(device), address, bytes, std::move(what)), owner_(std::move(owner)) {}

 private:
  std::shared_ptr<void> owner_;  ///< Keeps the memory.
};

}  // namespace

std::vector<std::uint8_t> MemoryHandle::bytes() const {
  std::vector<std::uint8_t> bytes(sizeof *this);
  std::memcpy(bytes.data(), this, sizeof *this);
  return bytes;
}

MemoryHandle MemoryHandle::from(const std::vector<std::uint8_t>& bytes) {
  MemoryHandle handle;
  if (bytes.size() != sizeof handle) {
    throw Error(Code::kCorrupt, "a handle of CUDA memory has {} bytes, not {}", bytes.size(), sizeof handle);
  }
  std::memcpy(static_cast<void*>(&handle), bytes.data(), sizeof handle);
  return handle;
}

OwnBlock::OwnBlock(DeviceId device, std::shared_ptr<Memory> memory, void* address, std::size_t bytes, std::string what)
    : Block(std::move(device), address, bytes, std::move(what)), memory_(std::move(memory)) {}

OwnBlock::~OwnBlock() { memory_->forget(address()); }

MemoryHandle OwnBlock::handle() {
  const std::lock_guard lock(mutex_);
  if (page_ != nullptr) return handle_;
  const CurrentGpu current(memory_->gpu());
  const cudaError_t result = cudaIpcGetMemHandle(&handle_.allocation, address());
  if (result != cudaSuccess) {  // Some containers and virtual machines do not allow it.
    cudaGetLastError();
    throw Error(Code::kUnsupported, "the driver cannot share {}: cudaIpcGetMemHandle failed: {} ({})", what(),
                cudaGetErrorString(result), cudaGetErrorName(result));
  }
  page_ = page_of(bytes());
  handle_.page = page_->handle();
  return handle_;
}

OpenedAllocation::OpenedAllocation(std::shared_ptr<Memory> memory, const MemoryHandle& handle)
    : memory_(std::move(memory)), bytes_(size_of_allocation(handle)) {
  const CurrentGpu current(memory_->gpu());
  const cudaError_t result = cudaIpcOpenMemHandle(&address_, handle.allocation, cudaIpcMemLazyEnablePeerAccess);
  if (result == cudaSuccess) return;
  cudaGetLastError();
  size_of_allocation(handle);  // Throws the better error if the allocation has just been freed.
  throw Error(Code::kCorrupt, "the driver cannot open the memory of process {}: cudaIpcOpenMemHandle failed: {} ({})",
              handle.page.pid, cudaGetErrorString(result), cudaGetErrorName(result));
}

OpenedAllocation::~OpenedAllocation() {
  if (memory_->abandoned()) return;
  const CurrentGpu current(memory_->gpu());
  cudaIpcCloseMemHandle(address_);
  cudaGetLastError();
}

Memory::Memory(DeviceId device, int gpu, std::string name)
    : device_(std::move(device)), gpu_(gpu), name_(std::move(name)) {
  const CurrentGpu current(gpu_);
  check(cudaStreamCreateWithFlags(&zeroing_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        "to make a stream that zeroes memory");
}

Memory::~Memory() {
  if (!abandoned()) cudaStreamDestroy(zeroing_);
}

std::shared_ptr<OwnBlock> Memory::allocate(std::size_t bytes, std::string what) {
  const CurrentGpu current(gpu_);
  void* address = nullptr;
  const cudaError_t result = cudaMalloc(&address, whole_pieces(bytes));
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    refuse(bytes, what);
  }
  check(result, "cudaMalloc", fmt::format("to allocate {} bytes for {}", bytes, what));
  {
    const std::lock_guard lock(mutex_);
    holders_[address] = {bytes, what};
  }
  auto block = std::make_shared<OwnBlock>(device_, shared_from_this(), address, bytes, std::move(what));
  zero(address, bytes);
  return block;
}

void Memory::refuse(std::size_t bytes, const std::string& what) const {
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  const std::lock_guard lock(mutex_);
  std::vector<Holder> all;
  for (const auto& [address, holder] : holders_) all.push_back(holder);
  std::ranges::stable_sort(all, std::greater<>(), &Holder::bytes);
  std::string text;
  for (const Holder& holder : all)
    text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", holder.what, holder.bytes);
  throw Error(Code::kUnsupported,
              "{} has no room for {} bytes of {}: {} of {} bytes are free; this process has {} blocks here{}", name_,
              bytes, what, free, total, all.size(), text);
}

std::size_t Memory::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& [address, holder] : holders_) sum += holder.bytes;
  return sum;
}

void Memory::zero(void* address, std::size_t bytes) {
  if (bytes == 0) return;
  check(cudaMemsetAsync(address, 0, bytes, zeroing_), "cudaMemsetAsync", "to zero new memory");
  check(cudaStreamSynchronize(zeroing_), "cudaStreamSynchronize", "to zero new memory");
}

void Memory::forget(void* address) {
  {
    const std::lock_guard lock(mutex_);
    holders_.erase(address);
  }
  if (abandoned()) return;
  const CurrentGpu current(gpu_);
  cudaFree(address);
  cudaGetLastError();  // An error would be that of an earlier operation, which its stream reports.
}

MemoryHandle Memory::export_block(const std::shared_ptr<OwnBlock>& block) {
  const MemoryHandle handle = block->handle();
  const std::lock_guard lock(mutex_);
  exported_[handle.page.inode] = block;
  return handle;
}

std::shared_ptr<devices::Block> Memory::open(const BlockHandle& handle) {
  const MemoryHandle memory = MemoryHandle::from(handle.memory);
  std::shared_ptr<void> owner;
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  if (const std::shared_ptr<OwnBlock> own = own_block(memory)) {
    owner = own;
    address = static_cast<std::byte*>(own->address());
    bytes = own->bytes();
  } else {
    const std::shared_ptr<OpenedAllocation> allocation = opened(memory);
    owner = allocation;
    address = allocation->address();
    bytes = allocation->bytes();
  }
  if (handle.offset > bytes || handle.bytes > bytes - handle.offset) {
    throw Error(Code::kCorrupt, "a handle says {} bytes from byte {} on; the allocation has {} bytes", handle.bytes,
                handle.offset, bytes);
  }
  return std::make_shared<OpenedBlock>(device_, std::move(owner), address + handle.offset, handle.bytes,
                                       fmt::format("a block of process {}", memory.page.pid));
}

/// Returns the block of this process to which the handle refers; null if there is none. The driver does not let a
/// process open its own memory.
std::shared_ptr<OwnBlock> Memory::own_block(const MemoryHandle& handle) {
  if (handle.page.pid != ::getpid()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = exported_.find(handle.page.inode);
  return found == exported_.end() ? nullptr : found->second.lock();
}

/// Every allocation is opened only once in a process.
std::shared_ptr<OpenedAllocation> Memory::opened(const MemoryHandle& handle) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<OpenedAllocation>& known = opened_[handle.page.inode];
  if (std::shared_ptr<OpenedAllocation> allocation = known.lock()) return allocation;
  auto allocation = std::make_shared<OpenedAllocation>(shared_from_this(), handle);
  known = allocation;
  return allocation;
}

}  // namespace trainyard::cuda_device
