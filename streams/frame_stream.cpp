// SPDX-License-Identifier: Apache-2.0
#include "streams/frame_stream.h"

#include <algorithm>
#include <cstring>

#include "messages/error.h"

namespace trainyard::streams {
namespace {

using Length = std::uint32_t;

/// The position of every frame. Only the order of the frames distinguishes them.
constexpr Position kFrame{~std::uint64_t{0}, 0};

}  // namespace

FrameStream::FrameStream(Connection connection, const std::optional<StreamSecrets>& secrets, const Limits& limits)
    : connection_(std::move(connection)), limits_(limits), queue_(limits.queue_bytes) {
  if (secrets) {
    sealer_.emplace(secrets->sent);
    opener_.emplace(secrets->received);
  }
  arrived_.resize(2 * cost(limits.frame_bytes));
}

std::size_t FrameStream::cost(std::size_t bytes) const { return sizeof(Length) + bytes + (sealer_ ? kTagBytes : 0); }

bool FrameStream::has_room(std::size_t bytes) const { return end_ - begin_ + cost(bytes) <= queue_.size(); }

void FrameStream::push(Bytes head, Bytes body) {
  const std::size_t bytes = head.size() + body.size();
  if (connection_.closed()) return;
  if (bytes > limits_.frame_bytes || !has_room(bytes)) {
    throw Error(Code::kInternal, "{} has no room for {} bytes", connection_.name(), bytes);
  }
  if (end_ + cost(bytes) > queue_.size()) {
    std::memmove(queue_.data(), queue_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  const auto length = static_cast<Length>(bytes);
  std::byte* to = queue_.data() + end_;
  std::memcpy(to, &length, sizeof length);
  std::byte* frame = to + sizeof length;
  std::ranges::copy(head, frame);
  std::ranges::copy(body, frame + head.size());
  if (sealer_) sealer_->seal(kFrame, {frame, bytes}, frame);
  end_ += cost(bytes);
}

bool FrameStream::flush() {
  bool moved = false;
  while (begin_ < end_) {
    iovec piece{queue_.data() + begin_, end_ - begin_};
    const std::size_t sent = connection_.write({&piece, 1});
    if (sent == 0) break;
    begin_ += sent;
    moved = true;
  }
  if (begin_ == end_) begin_ = end_ = 0;
  return moved;
}

std::size_t FrameStream::receive(const std::function<void(Bytes frame)>& take) {
  std::size_t frames = 0;
  while (connection_.readable()) {
    iovec place{arrived_.data() + arrived_bytes_, arrived_.size() - arrived_bytes_};
    const std::size_t got = connection_.read({&place, 1});
    if (got == 0) break;
    arrived_bytes_ += got;
    frames += parse(take);
  }
  return frames;
}

std::size_t FrameStream::parse(const std::function<void(Bytes frame)>& take) {
  std::size_t frames = 0;
  std::size_t begin = 0;
  while (arrived_bytes_ - begin >= sizeof(Length)) {
    Length length = 0;
    std::memcpy(&length, arrived_.data() + begin, sizeof length);
    if (length > limits_.frame_bytes) {
      throw Error(Code::kCorrupt, "{}: frame {} says that it has {} bytes; allowed are at most {}", connection_.name(),
                  frames_ + 1, length, limits_.frame_bytes);
    }
    if (arrived_bytes_ - begin < cost(length)) break;
    std::byte* frame = arrived_.data() + begin + sizeof length;
    if (opener_ && !opener_->open(kFrame, {frame, length},
                                  std::span<const std::byte, kTagBytes>(frame + length, kTagBytes), frame)) {
      throw Error(
          Code::kCorrupt,
          "{}: frame {} is not authentic: it was changed, repeated, left out or moved on its way, or comes from "
          "somebody else",
          connection_.name(), frames_ + 1);
    }
    ++frames_;
    ++frames;
    take({frame, length});
    begin += cost(length);
  }
  arrived_bytes_ -= begin;
  std::memmove(arrived_.data(), arrived_.data() + begin, arrived_bytes_);
  return frames;
}

}  // namespace trainyard::streams
