#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "messages/scalar.h"
#include "tensors/arena.h"

namespace trainyard {

/// Where the parts of the ranks begin in `bytes` bytes of a flat block: `ranks` + 1 ascending multiples of the arena's
/// alignment, but for the last, which is `bytes`. Parts differ by one unit of alignment at most; where there are fewer
/// units than ranks, some are empty.
std::vector<std::uint64_t> shard_bounds(std::uint64_t bytes, std::uint32_t ranks);

/// What collectives are told of these bounds for the run of `bytes` bytes at `offset`: where its parts begin and end,
/// counted in elements of `element_bytes` from the beginning of the run. Parts may be empty.
std::vector<std::uint64_t> bounds_within(std::span<const std::uint64_t> bounds, std::uint64_t offset,
                                         std::uint64_t bytes, std::uint64_t element_bytes);

/// The memory that one rank needs for parameters and gradients, where ranks share it out. Bytes.
struct Holdings {
  std::uint64_t parameters = 0;        ///< Kept between steps ...
  std::uint64_t gradients = 0;         ///< ... the same.
  std::uint64_t peak_parameters = 0;   ///< The most that there was at one moment, what is there for a while included.
  std::uint64_t peak_gradients = 0;    ///< The same: with what autograd holds and what is on its way.
  std::uint64_t whole_parameters = 0;  ///< What a rank that shares nothing would keep of either.

  /// "rank 1 holds 2048 of 8192 parameter bytes (at most 8192), ..."
  std::string text(std::uint32_t rank) const;
  /// For the metrics: "parameter_bytes", "gradient_bytes" and the peaks of both.
  std::vector<Scalar> scalars() const;
};

}  // namespace trainyard
