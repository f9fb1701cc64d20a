// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "messages/scalar.h"
#include "tensors/arena.h"

namespace trainyard {

/// Returns the bounds of the ranks' parts of a flat block of `bytes` bytes: `ranks` + 1 ascending multiples of the
/// arena's alignment, except for the last bound, which is `bytes`. If `bytes` is also a multiple, the sizes of the
/// parts differ by at most one unit of alignment. If there are fewer units than ranks, some parts are empty.
std::vector<std::uint64_t> shard_bounds(std::uint64_t bytes, std::uint32_t ranks);

/// Restricts `bounds`, a result of shard_bounds(), to the `bytes` bytes at `offset`, for a collective operation over
/// these bytes. The results are in elements of `element_bytes` bytes, counted from `offset`. Parts may be empty.
std::vector<std::uint64_t> bounds_within(std::span<const std::uint64_t> bounds, std::uint64_t offset,
                                         std::uint64_t bytes, std::uint64_t element_bytes);

/// The memory in bytes that one rank uses for parameters and gradients, for strategies that can divide them among the
/// ranks.
struct Holdings {
  std::uint64_t parameters = 0;  ///< The parameters kept between steps.
  std::uint64_t gradients = 0;   ///< The gradients kept between steps.
  /// The largest number of bytes of parameters at any time, including parameters that are gathered only temporarily.
  std::uint64_t peak_parameters = 0;
  /// The largest number of bytes of gradients at any time, including gradients that autograd holds or that are being
  /// sent.
  std::uint64_t peak_gradients = 0;
  /// The size of all parameters of the model, including those that this rank does not hold.
  std::uint64_t whole_parameters = 0;

  /// Returns a human-readable description: "rank 1 holds 2048 of 8192 parameter bytes (at most 8192), ...".
  std::string text(std::uint32_t rank) const;
  /// Returns the values for the metrics: "parameter_bytes", "gradient_bytes" and the peaks of both.
  std::vector<Scalar> scalars() const;
};

}  // namespace trainyard
