// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "streams/connection.h"
#include "streams/handshake.h"
#include "streams/record.h"

namespace trainyard::streams {

/// A stream for small messages of any size up to a limit, which are called frames. Frames that the kernel does not take
/// at once wait in a queue of limited size. The stream never waits, and allocates only when it is constructed.
class FrameStream {
 public:
  struct Limits {
    std::size_t frame_bytes;  ///< The largest frame. Whoever sends a larger one is refused before it is read.
    std::size_t queue_bytes;  ///< The most bytes that wait to be sent.
  };

  /// Without `secrets`, frames are sent in clear.
  FrameStream(Connection connection, const std::optional<StreamSecrets>& secrets, const Limits& limits);

  Connection& connection() { return connection_; }
  const Connection& connection() const { return connection_; }

  /// Returns true if the queue has room for a frame of `bytes` bytes.
  bool has_room(std::size_t bytes) const;
  /// Sends a frame, which consists of `head` and `body`. There must be room for it. A frame on a stream that the other
  /// side has closed is discarded.
  void push(Bytes head, Bytes body);
  /// Goes on sending what waits in the queue. Returns true if anything was sent.
  bool flush();
  bool all_sent() const { return begin_ == end_; }

  /// Calls `take` for each frame that has arrived; the frame is valid during the call. Returns the number of frames.
  /// Throws kCorrupt, naming the stream, for a frame that is too long or not authentic.
  std::size_t receive(const std::function<void(Bytes frame)>& take);

 private:
  std::size_t cost(std::size_t bytes) const;
  std::size_t parse(const std::function<void(Bytes frame)>& take);

  Connection connection_;
  std::optional<Sealer> sealer_;
  std::optional<Opener> opener_;
  const Limits limits_;

  std::vector<std::byte> queue_;  ///< [begin_, end_) waits to be sent.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::vector<std::byte> arrived_;  ///< [0, arrived_bytes_) has arrived.
  std::size_t arrived_bytes_ = 0;
  std::uint64_t frames_ = 0;
};

}  // namespace trainyard::streams
