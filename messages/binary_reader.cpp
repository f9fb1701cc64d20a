// SPDX-License-Identifier: Apache-2.0
#include "messages/binary_reader.h"

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard {

// Every error names the byte at which it occurred, so that the author of a client can find the place with
// docs/wire_format.md. The number of remaining bytes is divided, because a product of two numbers from the sender could
// overflow.
std::size_t BinaryReader::read_count(std::size_t element_bytes) {
  const std::size_t count = read_number<std::uint32_t>();
  if (count > remaining() / element_bytes) {
    throw Error(Code::kCorrupt, "message claims {} elements of {} bytes or more at byte {}, where {} bytes remain",
                count, element_bytes, position_ - sizeof(std::uint32_t), remaining());
  }
  return count;
}

bool BinaryReader::read_bool() {
  const auto value = read_number<std::uint8_t>();
  if (value > 1) throw Error(Code::kCorrupt, "message has {} for a bool at byte {}; 0 or 1", value, position_ - 1);
  return value == 1;
}

std::string_view BinaryReader::read_text() {
  const std::size_t size = read_count(1);
  const auto bytes = body_.subspan(position_, size);
  position_ += size;
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TensorPlace BinaryReader::read_tensor_place() {
  const std::size_t start = position_;
  TensorPlace place;
  place.dtype = static_cast<DType>(read_number<std::uint8_t>());
  const std::size_t rank = read_number<std::uint8_t>();
  if (rank > kMaxDimensions)
    throw Error(Code::kCorrupt, "tensor at byte {} has {} dimensions; at most {}", start, rank, kMaxDimensions);
  place.shape.resize(rank);
  read(place.shape.data(), rank * sizeof(std::int64_t));
  place.payload = read_number<std::uint32_t>();
  place.offset = read_number<std::uint64_t>();
  place.bytes = checked_bytes(place.dtype, place.shape);
  // Every value has only one valid encoding, so a message that is read and written again has the same bytes.
  if (place.payload == kNoPayload && place.offset != 0) {
    throw Error(Code::kCorrupt, "tensor at byte {} has an offset but no payload", start);
  }
  return place;
}

void BinaryReader::read_tensor(Tensor& tensor) {
  const std::size_t start = position_;
  TensorPlace place = read_tensor_place();
  // A tensor without a payload gets an empty buffer even if its shape has elements. Code that uses the tensor must
  // check for this before it reads elements.
  tensor = {place.dtype, std::move(place.shape), place.offset, {}};
  if (place.payload == kNoPayload) return;
  if (place.payload >= payloads_.size()) {
    throw Error(Code::kCorrupt, "tensor at byte {} refers to payload {} of {}", start, place.payload, payloads_.size());
  }
  const Buffer& buffer = payloads_[place.payload];
  // Two comparisons are used instead of a sum, which could overflow.
  if (place.offset > buffer.size() || place.bytes > buffer.size() - place.offset) {
    throw Error(Code::kCorrupt, "tensor at byte {} needs {} bytes at offset {} of a payload of {}", start, place.bytes,
                place.offset, buffer.size());
  }
  tensor.buffer = buffer;
}

void BinaryReader::throw_repeated(const std::string& key) const {
  throw Error(Code::kCorrupt, "message has the key '{}' a second time in a map, before byte {}", key, position_);
}

void BinaryReader::finish() const {
  if (remaining() != 0) throw Error(Code::kCorrupt, "message has {} bytes after its last field", remaining());
}

void BinaryReader::throw_unknown_word(std::size_t start, const std::string& what) {
  throw Error(Code::kCorrupt, "message has an unknown word at byte {}: {}", start, what);
}

void BinaryReader::throw_truncated(std::size_t wanted) const {
  throw Error(Code::kCorrupt, "message ends at byte {}, where {} more were expected and {} remain", body_.size(),
              wanted, remaining());
}

}  // namespace trainyard
