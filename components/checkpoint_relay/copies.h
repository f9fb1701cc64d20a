// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "messages/buffer.h"
#include "messages/tensor.h"

namespace trainyard::checkpoint_relay {

/// The largest piece of a block that is sent as one message, in bytes. Larger messages would hold up other messages for
/// too long.
inline constexpr std::size_t kPieceBytes = 16 << 20;

/// Returns the bytes [begin, end) of a buffer as a tensor of uint8. The tensor keeps the buffer alive.
Tensor piece_of(const Buffer& buffer, std::size_t begin, std::size_t end);

/// Copies blocks of memory for a checkpoint. The memory of a copy is reused when no Buffer refers to it any more, for
/// instance because ZeroMQ has sent all of it.
class Copies {
 public:
  /// Returns a copy of the bytes of `block`.
  Buffer copy(const Tensor& block);

 private:
  std::vector<Buffer> buffers_;
};

}  // namespace trainyard::checkpoint_relay
