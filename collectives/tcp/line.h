// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/frame.h"
#include "streams/frame_stream.h"

namespace trainyard::tcp {

/// The control stream to one other member. Every frame also says how far its sender is, so that each of the two knows
/// how much the other can still store.
class Line {
 public:
  /// The room in the queue that only frames without a body, and failures, may use.
  static constexpr std::size_t kReserve = 32 << 10;

  /// `done` is how many operations of the group this member has finished. It must outlive the line.
  Line(streams::FrameStream& stream, const std::uint64_t& done) : stream_(stream), done_here_(done) {}

  streams::FrameStream& stream() { return stream_; }

  /// Sends a frame, for which there must be room.
  void send(FrameHead head, Bytes body = {});
  /// Sends a frame for which there may be no room; it is then dropped, because it will be sent again.
  bool send_if_room(const FrameHead& head);
  /// Returns true if there is room for a frame with a body of `bytes` bytes, apart from the reserve.
  bool has_room(std::size_t bytes) const { return stream_.has_room(sizeof(FrameHead) + bytes + kReserve); }

  /// Learns from a frame how far the other member is.
  void hear(const FrameHead& head);
  /// How many operations of the group the other member has finished.
  std::uint64_t done() const { return done_; }
  /// How many messages from here the other member has received completely.
  std::uint64_t taken() const { return taken_; }
  std::uint64_t done_here() const { return done_here_; }
  std::uint64_t taken_here() const { return taken_here_; }

  /// Records that message `number` from the other member has been received completely.
  void take(std::uint64_t number);
  /// Tells the other member how far this one is, if this is overdue because nothing else was sent to it.
  void tell_progress();

 private:
  streams::FrameStream& stream_;
  const std::uint64_t& done_here_;
  std::uint64_t taken_here_ = 0;
  std::uint64_t told_done_ = 0;   ///< What the other member knows about done_here().
  std::uint64_t told_taken_ = 0;  ///< What the other member knows about taken_here().
  std::uint64_t done_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace trainyard::tcp
