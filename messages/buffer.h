// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace trainyard {

/// The location of a shared buffer. Another process of the same user on the same host can map the buffer from this
/// location.
///
/// The memory is a sealed memfd of process `pid`. A reader opens `/proc/<pid>/fd/<fd>` and checks `inode`, so that it
/// notices a descriptor that has been reused. The struct is plain data and is sent in a payload frame
/// (docs/wire_format.md).
struct SharedHandle {
  std::int32_t pid = 0;
  std::int32_t fd = -1;
  std::uint64_t inode = 0;
  std::uint64_t segment_bytes = 0;  ///< The size of the whole memfd, in bytes.
  std::uint64_t offset = 0;         ///< Where the buffer starts in the memfd, in bytes.
  std::uint64_t bytes = 0;          ///< The size of the buffer.
  /// 1 if the owner reuses the memory when no reader refers to it any more; the first page of the memfd then counts the
  /// references of the readers. 0 if the memory is never reused, so that references need not be counted.
  std::uint64_t counted = 0;

  friend bool operator==(const SharedHandle&, const SharedHandle&) = default;
};
// The bytes of this struct are a frame of the wire format, so its layout may not depend on the compiler.
static_assert(sizeof(SharedHandle) == 48);

/// A reference-counted range of bytes: on the heap, in shared memory, or borrowed from an owner that keeps the bytes
/// alive.
///
/// Copying a Buffer copies a reference. The bytes live until the last reference is released; the owner then frees them,
/// unmaps them or returns them to a pool. The bytes must not be changed after they have been sent, because readers in
/// other threads and processes use no lock. The reference count is atomic, so any thread may release a reference.
class Buffer {
 public:
  /// Makes a Buffer without bytes and without an owner.
  Buffer() = default;

  /// Makes a Buffer that refers to bytes that `owner` keeps alive. If other processes can map the bytes, `shared` is
  /// the location from which they map them; otherwise `shared` is empty.
  Buffer(std::shared_ptr<void> owner, std::byte* data, std::size_t size, std::optional<SharedHandle> shared = {});

  /// Makes a Buffer of `size` bytes in new heap memory, which is 64-byte aligned and uninitialised.
  static Buffer heap(std::size_t size);

  /// Returns the address of the first byte. The bytes are writable even if the Buffer is const, because only the
  /// reference is constant.
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Returns true if the Buffer has no bytes. A default-constructed Buffer has none.
  bool empty() const { return size_ == 0; }
  /// Returns a view of all bytes. The span does not keep them alive.
  std::span<std::byte> bytes() const { return {data_, size_}; }
  /// Returns the location that other processes need to map the bytes. The optional is empty if the memory is private to
  /// this process.
  const std::optional<SharedHandle>& shared() const { return shared_; }
  /// Returns the owner of the bytes. Code that passes the bytes to another library must keep a copy of this pointer as
  /// long as the library uses them.
  const std::shared_ptr<void>& owner() const { return owner_; }

  /// Returns true if both Buffers refer to the same range of memory.
  bool same_as(const Buffer& other) const { return data_ == other.data_ && size_ == other.size_; }

 private:
  std::shared_ptr<void> owner_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<SharedHandle> shared_;
};

}  // namespace trainyard
