// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/frame.h"
#include "streams/frame_stream.h"

namespace trainyard::tcp {

/// The control stream to one other member. Every frame also contains the progress of its sender, so that each of the
/// two members knows how much the other can still store.
class Line {
 public:
  /// The part of the queue that is reserved for frames without a body and for failures, in bytes.
  static constexpr std::size_t kReserve = 32 << 10;

  /// `done` is the number of operations of the group that this member has finished. It must outlive the line.
  Line(streams::FrameStream& stream, const std::uint64_t& done) : stream_(stream), done_here_(done) {}

  streams::FrameStream& stream() { return stream_; }

  /// Sends a frame, for which there must be room.
  void send(FrameHead head, Bytes body = {});
  /// Sends a frame if there is room for it, and returns whether it was sent. A frame that is dropped in this way is
  /// sent again later.
  bool send_if_room(const FrameHead& head);
  /// Returns true if there is room for a frame with a body of `bytes` bytes, apart from the reserve.
  bool has_room(std::size_t bytes) const { return stream_.has_room(sizeof(FrameHead) + bytes + kReserve); }

  /// Reads the other member's progress from a frame.
  void hear(const FrameHead& head);
  /// Returns the number of operations of the group that the other member has finished.
  std::uint64_t done() const { return done_; }
  /// Returns the number of messages from this member that the other member has received completely.
  std::uint64_t taken() const { return taken_; }
  std::uint64_t done_here() const { return done_here_; }
  std::uint64_t taken_here() const { return taken_here_; }

  /// Records that message `number` from the other member has been received completely.
  void take(std::uint64_t number);
  /// Sends a frame with this member's progress if the other member needs to know it and no other frame has told it.
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
