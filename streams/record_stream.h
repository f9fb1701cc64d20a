// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "streams/connection.h"
#include "streams/handshake.h"
#include "streams/record.h"

namespace trainyard::streams {

/// A stream for large amounts of data. Both sides know the position and the size of each record in advance. A record is
/// sent as its length (4 bytes), its bytes and, if the stream is encrypted, its tag. At any time, at most one record is
/// in transfer in each direction. The stream never blocks the caller, and allocates memory only during construction.
class RecordStream {
 public:
  /// If `secrets` is empty, records are sent unencrypted. No record may have more than `most_bytes` bytes.
  RecordStream(Connection connection, const std::optional<StreamSecrets>& secrets, std::size_t most_bytes);

  Connection& connection() { return connection_; }
  const Connection& connection() const { return connection_; }

  /// Returns true if the kernel has accepted all of the last record, or if none has been sent. Only then may send() be
  /// called.
  bool idle() const { return unsent_.empty(); }
  /// Encrypts a record if the stream is encrypted, and begins to send it. Call flush() until idle() returns true.
  /// Throws kInternal if idle() is false or the record is too long. If the stream is not encrypted, the memory of
  /// `record` must not change until idle() returns true.
  void send(const Position& position, std::span<const std::byte> record);
  /// Continues to send the current record. Returns true if anything was sent.
  bool flush();

  enum class Arrival { kNothing, kSome, kComplete };
  /// Continues to receive the next record into `record`, and returns whether nothing, some bytes or the last byte of it
  /// arrived during this call. All calls until the record is complete must have the same arguments. Throws kCorrupt,
  /// naming the stream, if the record that arrives has another size or, on an encrypted stream, is not the one that the
  /// other side sent next for this position. After the exception, `record` must not be used.
  Arrival receive(const Position& position, std::span<std::byte> record);

 private:
  [[noreturn]] void refuse(const char* why) const;

  Connection connection_;
  std::optional<Sealer> sealer_;
  std::optional<Opener> opener_;
  const std::size_t most_bytes_;

  std::vector<std::byte> sealed_;  ///< The current record as it is sent, with its tag.
  std::uint32_t sent_length_ = 0;
  std::array<iovec, 2> pieces_{};
  std::span<iovec> unsent_;

  std::uint32_t received_length_ = 0;
  std::array<std::byte, kTagBytes> received_tag_{};
  std::size_t received_ = 0;  ///< How many bytes of the incoming length, record and tag have arrived.
  std::uint64_t records_ = 0;
};

}  // namespace trainyard::streams
