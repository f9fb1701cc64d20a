#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "messages/buffer.h"

namespace trainyard {

/// A queue of byte records in memory that two processes of one host have mapped: one writes, one reads, nobody else
/// looks. A record costs one copy in and is read in place; no system call, no lock.
///
/// The reader makes the ring, because a reader that is started again shall have a new one. The data is mapped twice,
/// one mapping behind the other, so a record that wraps around is contiguous all the same.
///
/// It also carries what the edge above needs to count its credits: how many messages and bytes the reader has handled.
///
/// The other process is trusted to be ours, not to be well: every length that it wrote is checked against the bytes
/// that there are.
class SharedRing {
 public:
  /// Of `capacity` bytes, a power of two and a multiple of the page. Throws kIo.
  static SharedRing make(std::size_t capacity);

  /// The ring that another process has made. Throws kPeerLost if that process is gone, kCorrupt if the handle does not
  /// name a ring.
  static SharedRing open(const SharedHandle& handle);

  SharedRing(SharedRing&& other) noexcept;
  SharedRing& operator=(SharedRing&& other) noexcept;
  ~SharedRing();

  /// For `open` in another process; valid while the maker keeps the ring.
  const SharedHandle& handle() const { return handle_; }

  /// Bytes that the largest record may have now. On the writer's side.
  std::size_t room() const;

  /// Where the next record goes: `bytes` <= room(). It is there for the reader after commit(). On the writer's side.
  std::byte* reserve(std::size_t bytes);
  /// Publishes the record; wakes nobody.
  void commit();

  /// The oldest record, in place, until pop(); empty if there is none. Throws kCorrupt. On the reader's side.
  std::span<const std::byte> front() const;
  /// Gives the place of front() back; spans into it are invalid from then on.
  void pop();
  /// On the reader's side.
  bool empty() const;

  /// The reader has handled one more message that counted `bytes`. Returns true if the writer waits to be told.
  bool return_credit(std::uint64_t bytes);
  /// Since the ring was made; the writer subtracts them from what it has sent.
  std::uint64_t returned_messages() const;
  std::uint64_t returned_bytes() const;

  /// The writer wants to hear of the next credit or room. It looks once more after saying so.
  void want_credit(bool wanted);
  /// The reader: does the writer want to hear that there is room?
  bool credit_wanted() const;

 private:
  struct Control;

  SharedRing(int fd, const SharedHandle& handle);
  Control& control() const { return *reinterpret_cast<Control*>(base_); }
  std::byte* data() const;

  std::byte* base_ = nullptr;  ///< A page of control, then the data, then the data again.
  std::size_t capacity_ = 0;
  int fd_ = -1;  ///< The maker's; -1 on the other side.
  SharedHandle handle_;
  std::uint64_t reserved_ = 0;  ///< Bytes of the record being written, with its length.
};

}  // namespace trainyard
