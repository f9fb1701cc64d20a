// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "streams/connection.h"
#include "streams/handshake.h"
#include "streams/record.h"

namespace trainyard::streams {

/// A stream of frames. A frame is a message of any size up to a limit. Frames that are to be sent wait in a queue of
/// limited size until flush() has passed them to the kernel. The stream never blocks the caller, and allocates memory
/// only during construction.
class FrameStream {
 public:
  struct Limits {
    /// The maximum size of a frame. receive() throws as soon as the length of a longer frame has arrived.
    std::size_t frame_bytes;
    std::size_t queue_bytes;  ///< The maximum number of bytes that wait to be sent.
  };

  /// If `secrets` is empty, frames are sent unencrypted.
  FrameStream(Connection connection, const std::optional<StreamSecrets>& secrets, const Limits& limits);

  Connection& connection() { return connection_; }
  const Connection& connection() const { return connection_; }

  /// Returns true if the queue has room for a frame of `bytes` bytes.
  bool has_room(std::size_t bytes) const;
  /// Puts a frame that consists of `head` followed by `body` into the queue; flush() sends it. Throws kInternal if the
  /// frame is too long or the queue has no room. If the other side has closed the stream, the frame is discarded.
  void push(Bytes head, Bytes body);
  /// Passes as many bytes of the queued frames to the kernel as it accepts without waiting. Returns true if anything
  /// was sent.
  bool flush();
  bool all_sent() const { return begin_ == end_; }

  /// Calls `take` for each frame that has arrived. The frame is valid during the call. Returns the number of frames.
  /// Throws kCorrupt, naming the stream, if a frame is too long or not authentic.
  std::size_t receive(const std::function<void(Bytes frame)>& take);

 private:
  std::size_t cost(std::size_t bytes) const;
  std::size_t parse(const std::function<void(Bytes frame)>& take);

  Connection connection_;
  std::optional<Sealer> sealer_;
  std::optional<Opener> opener_;
  const Limits limits_;

  std::vector<std::byte> queue_;  ///< A buffer; its bytes from begin_ to end_ wait to be sent.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  /// A buffer; its first arrived_bytes_ bytes have arrived and have not been taken yet.
  std::vector<std::byte> arrived_;
  std::size_t arrived_bytes_ = 0;
  std::uint64_t frames_ = 0;
};

}  // namespace trainyard::streams
