// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "messages/scalar.h"
#include "tensors/arena.h"

namespace trainyard {

/// Divides a flat block of `bytes` bytes into one part for each rank. Returns the `ranks` + 1 ascending bounds of the
/// parts, in bytes. All bounds are multiples of Arena::kAlignment, except the last one, which is `bytes`. If `bytes` is
/// a multiple of Arena::kAlignment, too, the sizes of the parts differ by at most Arena::kAlignment. Some parts are
/// empty if the block is too small.
std::vector<std::uint64_t> shard_bounds(std::uint64_t bytes, std::uint32_t ranks);

/// Returns the bounds of the ranks' parts within the `bytes` bytes at `offset` of a block, for a collective operation
/// on these bytes. `bounds` is the result of shard_bounds() for the whole block. The results are in elements of
/// `element_bytes` bytes, counted from `offset`. Parts may be empty.
std::vector<std::uint64_t> bounds_within(std::span<const std::uint64_t> bounds, std::uint64_t offset,
                                         std::uint64_t bytes, std::uint64_t element_bytes);

/// The memory in bytes that one rank uses for parameters and gradients, if the strategy divides them among the ranks.
struct Holdings {
  std::uint64_t parameters = 0;  ///< The parameters that the rank keeps between steps.
  std::uint64_t gradients = 0;   ///< The gradients that the rank keeps between steps.
  /// The maximum during a step, including parameters that are gathered only temporarily.
  std::uint64_t peak_parameters = 0;
  /// The maximum during a step, including gradients that autograd has allocated or that are being reduced.
  std::uint64_t peak_gradients = 0;
  /// The size of all parameters of the model, whether this rank has them or not.
  std::uint64_t whole_parameters = 0;

  /// Returns a human-readable description: "rank 1 holds 2048 of 8192 parameter bytes (at most 8192), ...".
  std::string text(std::uint32_t rank) const;
  /// Returns the values for the metrics: "parameter_bytes", "gradient_bytes" and the peaks of both.
  std::vector<Scalar> scalars() const;
};

}  // namespace trainyard
