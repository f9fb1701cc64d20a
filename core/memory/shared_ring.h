// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "messages/buffer.h"

namespace trainyard::core {

/// A queue of byte records in memory that two processes of one host have mapped. One process writes and the other
/// reads. A record is copied into the ring once and read in place, without system calls or locks.
///
/// The reader makes the ring, so a restarted reader uses a new ring. The data is mapped twice, at adjacent addresses,
/// so that a record that wraps around is still contiguous.
///
/// The ring also contains the numbers of messages and bytes that the reader has handled. The sender uses them to limit
/// the messages in flight.
///
/// The other process belongs to the same run but may be faulty. Therefore, every length that the other process has
/// written is checked against the available bytes.
class SharedRing {
 public:
  /// Makes a ring of `capacity` bytes, which must be a power of two and at least a page. Throws kInvalidArgument for
  /// any other capacity, and kIo if the memory cannot be allocated.
  static SharedRing make(std::size_t capacity);

  /// Opens a ring that another process has made. Throws kPeerLost if that process has ended, and kCorrupt if the handle
  /// does not refer to a ring.
  static SharedRing open(const SharedHandle& handle);

  SharedRing(SharedRing&& other) noexcept;
  SharedRing& operator=(SharedRing&& other) noexcept;
  ~SharedRing();

  /// Returns the handle for `open` in another process. It is valid while the process that made the ring keeps this
  /// object.
  const SharedHandle& handle() const { return handle_; }

  /// For the writer: returns the size in bytes of the largest record that fits at the moment.
  std::size_t room() const;

  /// For the writer: returns the memory for the next record; `bytes` must be <= room(). The reader sees the record
  /// after commit().
  std::byte* reserve(std::size_t bytes);
  /// For the writer: publishes the reserved record. It does not wake the reader; the writer does this with a
  /// PeerWakeup.
  void commit();

  /// For the reader: returns the oldest record, in place, valid until pop(). The span is empty if there is none. Throws
  /// kCorrupt if the length of the record is impossible.
  std::span<const std::byte> front() const;
  /// For the reader: frees the memory of front(), which invalidates spans into it.
  void pop();
  /// For the reader: returns true if there is no record.
  bool empty() const;

  /// For the reader: counts one more handled message, of size `bytes`. Returns true if the writer has asked to be
  /// woken; the reader must then wake it.
  bool return_credit(std::uint64_t bytes);
  /// For the writer: these functions return the numbers of messages and bytes that the reader has handled since the
  /// ring was made.
  std::uint64_t returned_messages() const;
  std::uint64_t returned_bytes() const;

  /// For the writer: sets or clears the request to be woken when the reader has handled a message or freed memory.
  /// After setting the request, the writer must check once more whether it can write, because the reader may have made
  /// room in the meantime.
  void want_credit(bool wanted);
  /// For the reader: returns true if the writer has asked to be woken. After calls of pop(), the reader must check this
  /// and, if so, wake the writer.
  bool credit_wanted() const;

 private:
  struct Control;

  SharedRing(int fd, const SharedHandle& handle);
  Control& control() const { return *reinterpret_cast<Control*>(base_); }
  std::byte* data() const;

  /// Where the ring is mapped: one page of control data, then the data, then the same data once more.
  std::byte* base_ = nullptr;
  std::size_t capacity_ = 0;
  int fd_ = -1;  ///< The descriptor of the memory in the process that made the ring; -1 in the other process.
  SharedHandle handle_;
  std::uint64_t reserved_ = 0;  ///< The size of the record being written, including its length field.
};

}  // namespace trainyard::core
