#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "messages/scalar.h"
#include "tensors/arena.h"

namespace trainyard {

/// Where the parts of the ranks begin in `bytes` bytes of a flat block: `ranks` + 1 ascending multiples of the arena's
/// alignment, except for the last, which is `bytes`. Parts differ by at most one unit of alignment; if there are fewer
/// units than ranks, some are empty.
std::vector<std::uint64_t> shard_bounds(std::uint64_t bytes, std::uint32_t ranks);

/// The bounds for a collective operation over the run of `bytes` bytes at `offset`: where its parts begin and end,
/// counted in elements of `element_bytes` from the beginning of the run. Parts may be empty.
std::vector<std::uint64_t> bounds_within(std::span<const std::uint64_t> bounds, std::uint64_t offset,
                                         std::uint64_t bytes, std::uint64_t element_bytes);

/// The memory in bytes that one rank needs for parameters and gradients, if the ranks divide them.
struct Holdings {
  std::uint64_t parameters = 0;  ///< What is kept between steps ...
  std::uint64_t gradients = 0;   ///< ... likewise.
  /// The most that there was at one moment, including what is there only for a while.
  std::uint64_t peak_parameters = 0;
  std::uint64_t peak_gradients = 0;    ///< Likewise, including what autograd holds and what is being sent.
  std::uint64_t whole_parameters = 0;  ///< What a rank would keep of either if nothing were divided.

  /// A description for people: "rank 1 holds 2048 of 8192 parameter bytes (at most 8192), ...".
  std::string text(std::uint32_t rank) const;
  /// Values for the metrics: "parameter_bytes", "gradient_bytes" and the peaks of both.
  std::vector<Scalar> scalars() const;
};

}  // namespace trainyard
