// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/frame.h"
#include "streams/frame_stream.h"

namespace trainyard::tcp {

/// Sends frames from one member ("this member") over the control stream to one other member. Every frame also contains
/// the number of operations and messages that its sender has finished, so that each member knows how much more the
/// other member can store.
class Line {
 public:
  /// The number of bytes of the send queue that are reserved for frames without a body and for failures.
  static constexpr std::size_t kReserve = 32 << 10;

  /// `done` is the number of collective operations that this member has finished. The line keeps a reference to `done`
  /// and reads the number whenever it sends a frame.
  Line(streams::FrameStream& stream, const std::uint64_t& done) : stream_(stream), done_here_(done) {}

  streams::FrameStream& stream() { return stream_; }

  /// Sends a frame. There must be room for it in the send queue; see has_room().
  void send(FrameHead head, Bytes body = {});
  /// Sends a frame without a body if there is room for it in the send queue. Returns false if there is no room; the
  /// frame is then dropped.
  bool send_if_room(const FrameHead& head);
  /// Returns true if the send queue has room for a frame with a body of `bytes` bytes, without using kReserve.
  bool has_room(std::size_t bytes) const { return stream_.has_room(sizeof(FrameHead) + bytes + kReserve); }

  /// Updates done() and taken() from a frame of the other member.
  void hear(const FrameHead& head);
  /// Returns the number of collective operations that the other member has finished.
  std::uint64_t done() const { return done_; }
  /// Returns how many messages of this member the other member has received completely.
  std::uint64_t taken() const { return taken_; }
  /// Returns the number of collective operations that this member has finished.
  std::uint64_t done_here() const { return done_here_; }
  /// Returns how many messages from the other member this member has received completely.
  std::uint64_t taken_here() const { return taken_here_; }

  /// Records that message `number` from the other member has been received completely.
  void take(std::uint64_t number);
  /// Sends a frame with this member's progress if many operations or messages have been finished since the last frame
  /// that was sent to the other member. Without this frame, the other member might stop sending because it does not
  /// know that this member can store more. Must be called after `done` has changed; take() calls it itself.
  void tell_progress();

 private:
  streams::FrameStream& stream_;
  const std::uint64_t& done_here_;
  std::uint64_t taken_here_ = 0;
  std::uint64_t told_done_ = 0;   ///< The value of done_here() that was last sent to the other member.
  std::uint64_t told_taken_ = 0;  ///< The value of taken_here() that was last sent to the other member.
  std::uint64_t done_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace trainyard::tcp
