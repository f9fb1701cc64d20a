#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace trainyard {

/// Where the bytes of a shared buffer can be found by another process of the same user on the same host.
///
/// The memory is a sealed memfd of process `pid`; a reader opens `/proc/<pid>/fd/<fd>` and checks `inode`, so that a
/// reused descriptor is noticed. Plain data: it travels in a payload frame (docs/wire_format.md).
struct SharedHandle {
  std::int32_t pid = 0;
  std::int32_t fd = -1;
  std::uint64_t inode = 0;
  std::uint64_t segment_bytes = 0;  ///< Size of the whole memfd.
  std::uint64_t offset = 0;         ///< Where the buffer's bytes start in it.
  std::uint64_t bytes = 0;          ///< How many bytes the buffer has.
  std::uint64_t counted = 0;  ///< 1: readers are counted in the segment's first page; 0: the memory is never reused.

  friend bool operator==(const SharedHandle&, const SharedHandle&) = default;
};
// The bytes of this struct are a frame of the wire format, so its layout may not depend on the compiler.
static_assert(sizeof(SharedHandle) == 48);

/// A refcounted run of bytes: on the heap, in shared memory, or borrowed from somebody who keeps it alive.
///
/// Copying a Buffer copies a reference. The bytes live until the last reference is gone; what happens then (free,
/// unmap, back to a pool) is up to `owner`. Writers write before they send and never after: readers may be in other
/// threads and processes, and there is no lock. The count itself is atomic, so references may be dropped anywhere.
class Buffer {
 public:
  /// No bytes and no owner.
  Buffer() = default;

  /// Bytes kept alive by `owner`; `shared` tells other processes where to find them.
  Buffer(std::shared_ptr<void> owner, std::byte* data, std::size_t size, std::optional<SharedHandle> shared = {});

  /// New, 64-byte aligned, uninitialised heap memory.
  static Buffer heap(std::size_t size);

  /// Writable although the Buffer is const: constness is that of the reference, not of the bytes.
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// True for a Buffer made by default, and for one of no bytes.
  bool empty() const { return size_ == 0; }
  /// All of them. The span does not keep them alive.
  std::span<std::byte> bytes() const { return {data_, size_}; }
  /// Where other processes find the bytes; nothing for memory that only this process has.
  const std::optional<SharedHandle>& shared() const { return shared_; }
  /// What keeps the bytes alive, for those who hand them to another library and must hold on to them meanwhile.
  const std::shared_ptr<void>& owner() const { return owner_; }

  /// True if both refer to the same bytes.
  bool same_as(const Buffer& other) const { return data_ == other.data_ && size_ == other.size_; }

 private:
  std::shared_ptr<void> owner_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<SharedHandle> shared_;
};

}  // namespace trainyard
