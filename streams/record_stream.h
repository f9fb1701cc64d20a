// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "streams/connection.h"
#include "streams/handshake.h"
#include "streams/record.h"

namespace trainyard::streams {

/// A stream for bulk data: both sides know by themselves which records come, with which sizes and positions. A record
/// is its length (4 bytes), its bytes, and the tag if the stream is sealed. One record at a time is under way in each
/// direction. The stream never waits, and allocates only when it is constructed.
class RecordStream {
 public:
  /// Without `secrets`, records are sent in clear. No record has more than `most_bytes` bytes.
  RecordStream(Connection connection, const std::optional<StreamSecrets>& secrets, std::size_t most_bytes);

  Connection& connection() { return connection_; }
  const Connection& connection() const { return connection_; }

  /// Returns true if send() may be called, because the kernel has taken the last record completely.
  bool idle() const { return unsent_.empty(); }
  /// Seals a record and begins to send it. In a stream in clear, the memory must not change until idle() returns true.
  void send(const Position& position, std::span<const std::byte> record);
  /// Goes on sending. Returns true if anything was sent.
  bool flush();

  enum class Arrival { kNothing, kSome, kComplete };
  /// Goes on receiving the next record into `record`. The calls until the record is complete must have the same
  /// arguments. Throws kCorrupt, naming the stream, if the record is not the one that the other side has sent next, for
  /// this position and with this size; `record` then contains nothing of use.
  Arrival receive(const Position& position, std::span<std::byte> record);

 private:
  [[noreturn]] void refuse(const char* why) const;

  Connection connection_;
  std::optional<Sealer> sealer_;
  std::optional<Opener> opener_;
  const std::size_t most_bytes_;

  std::vector<std::byte> sealed_;  ///< The record that is being sent, with its tag.
  std::uint32_t sent_length_ = 0;
  std::array<iovec, 2> pieces_{};
  std::span<iovec> unsent_;

  std::uint32_t received_length_ = 0;
  std::array<std::byte, kTagBytes> received_tag_{};
  std::size_t received_ = 0;  ///< Of length, record and tag together.
  std::uint64_t records_ = 0;
};

}  // namespace trainyard::streams
