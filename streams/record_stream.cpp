// SPDX-License-Identifier: Apache-2.0
#include "streams/record_stream.h"

#include "messages/error.h"

namespace trainyard::streams {

RecordStream::RecordStream(Connection connection, const std::optional<StreamSecrets>& secrets, std::size_t most_bytes)
    : connection_(std::move(connection)), most_bytes_(most_bytes) {
  if (!secrets) return;
  sealer_.emplace(secrets->sent);
  opener_.emplace(secrets->received);
  sealed_.resize(most_bytes + kTagBytes);
}

void RecordStream::send(const Position& position, std::span<const std::byte> record) {
  if (!idle() || record.size() > most_bytes_) throw Error(Code::kInternal, "{} cannot send yet", connection_.name());
  sent_length_ = static_cast<std::uint32_t>(record.size());
  if (sealer_) {
    sealer_->seal(position, record, sealed_.data());
    record = std::span(sealed_).first(record.size() + kTagBytes);
  }
  pieces_[0] = {&sent_length_, sizeof sent_length_};
  pieces_[1] = {const_cast<std::byte*>(record.data()), record.size()};
  unsent_ = pieces_;
  flush();
}

bool RecordStream::flush() {
  bool moved = false;
  while (!unsent_.empty()) {
    const std::size_t sent = connection_.write(unsent_);
    if (sent == 0) break;
    unsent_ = without(unsent_, sent);
    moved = true;
  }
  return moved;
}

RecordStream::Arrival RecordStream::receive(const Position& position, std::span<std::byte> record) {
  const std::size_t tag_bytes = opener_ ? kTagBytes : 0;
  const std::size_t whole = sizeof received_length_ + record.size() + tag_bytes;
  const std::size_t before = received_;
  while (received_ < whole) {
    std::array<iovec, 3> places{iovec{&received_length_, sizeof received_length_}, iovec{record.data(), record.size()},
                                iovec{received_tag_.data(), tag_bytes}};
    const std::size_t got = connection_.read(without(places, received_));
    if (got == 0) break;
    received_ += got;
    // A wrong length is noticed immediately, so that the stream never waits for bytes that do not come.
    if (received_ >= sizeof received_length_ && received_length_ != record.size()) refuse("has another length");
  }
  if (received_ < whole) return received_ > before ? Arrival::kSome : Arrival::kNothing;
  received_ = 0;
  ++records_;
  if (opener_ && !opener_->open(position, record, received_tag_, record.data())) {
    --records_;
    refuse("is not authentic: it was changed, repeated, left out or moved on its way, or comes from somebody else");
  }
  return Arrival::kComplete;
}

void RecordStream::refuse(const char* why) const {
  throw Error(Code::kCorrupt, "{}: record {} {}", connection_.name(), records_ + 1, why);
}

}  // namespace trainyard::streams
