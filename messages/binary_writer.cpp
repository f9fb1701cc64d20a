// SPDX-License-Identifier: Apache-2.0
#include "messages/binary_writer.h"

#include <bit>
#include <limits>

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian and is written without swapping");

void BinaryWriter::write_count(std::size_t count) {
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Code::kInvalidArgument, "a message field has {} elements; at most 2^32 - 1 fit on the wire", count);
  }
  write_number(static_cast<std::uint32_t>(count));
}

// The order of the fields is that of docs/wire_format.md, section 6.
void BinaryWriter::write_tensor(const Tensor& tensor) {
  if (tensor.shape.size() > kMaxDimensions) {
    throw Error(Code::kInvalidArgument, "a tensor in a message has {} dimensions; at most {} are allowed",
                tensor.shape.size(), kMaxDimensions);
  }
  write_number(static_cast<std::uint8_t>(tensor.dtype));
  write_number(static_cast<std::uint8_t>(tensor.shape.size()));
  write(tensor.shape.data(), tensor.shape.size() * sizeof(std::int64_t));
  // A tensor without bytes needs no payload.
  write_number(tensor.buffer.empty() ? kNoPayload : payload_index(tensor.buffer));
  write_number(tensor.buffer.empty() ? decltype(tensor.offset){0} : tensor.offset);
}

// The search is linear: messages have a few buffers, 64 at most, and a map would allocate on the step path.
std::uint32_t BinaryWriter::payload_index(const Buffer& buffer) {
  for (std::size_t i = 0; i < payloads_.size(); ++i) {
    if (payloads_[i].same_as(buffer)) return static_cast<std::uint32_t>(i);
  }
  if (payloads_.size() == kMaxPayloads) {
    throw Error(Code::kInvalidArgument, "a message refers to more than {} distinct buffers", kMaxPayloads);
  }
  payloads_.push_back(buffer);
  return static_cast<std::uint32_t>(payloads_.size() - 1);
}

}  // namespace trainyard
