#include "messages/binary_reader.h"

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard {

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

void BinaryReader::read_tensor(Tensor& tensor) {
  const std::size_t start = position_;
  tensor.dtype = static_cast<DType>(read_number<std::uint8_t>());
  const std::size_t rank = read_number<std::uint8_t>();
  if (rank > kMaxRank)
    throw Error(Code::kCorrupt, "tensor at byte {} has {} dimensions; at most {}", start, rank, kMaxRank);
  tensor.shape.resize(rank);
  read(tensor.shape.data(), rank * sizeof(std::int64_t));
  const auto index = read_number<std::uint32_t>();
  tensor.offset = read_number<std::uint64_t>();
  const std::size_t bytes = checked_bytes(tensor.dtype, tensor.shape);
  if (index == kNoPayload) {
    tensor.buffer = {};
    if (tensor.offset != 0) throw Error(Code::kCorrupt, "tensor at byte {} has an offset but no payload", start);
    return;
  }
  if (index >= payloads_.size()) {
    throw Error(Code::kCorrupt, "tensor at byte {} refers to payload {} of {}", start, index, payloads_.size());
  }
  const Buffer& buffer = payloads_[index];
  if (tensor.offset > buffer.size() || bytes > buffer.size() - tensor.offset) {
    throw Error(Code::kCorrupt, "tensor at byte {} needs {} bytes at offset {} of a payload of {}", start, bytes,
                tensor.offset, buffer.size());
  }
  tensor.buffer = buffer;
}

void BinaryReader::finish() const {
  if (remaining() != 0) throw Error(Code::kCorrupt, "message has {} bytes after its last field", remaining());
}

void BinaryReader::throw_truncated(std::size_t wanted) const {
  throw Error(Code::kCorrupt, "message ends at byte {}, where {} more were expected and {} remain", body_.size(),
              wanted, remaining());
}

}  // namespace trainyard
