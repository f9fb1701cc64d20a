// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace trainyard::core {

/// Decides whether this process can open enough descriptors for one more connection. It counts the open descriptors
/// only from time to time, because counting is slow.
class DescriptorBudget {
 public:
  /// `each` is the number of descriptors that one connection needs.
  explicit DescriptorBudget(std::size_t each) : each_(each) {}

  /// Returns true if one more connection would leave at least `spare` descriptors for other purposes. The connection
  /// then counts as made.
  bool take(std::size_t spare);

 private:
  std::size_t each_;
  std::size_t left_ = 0;  ///< The number of connections that may still be made before the next count.
  std::chrono::steady_clock::time_point counted_;
};

}  // namespace trainyard::core
