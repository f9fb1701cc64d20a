// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace trainyard::core {

/// Decides whether this process has descriptors left for one more connection. It counts the open ones only from time to
/// time, because counting is slow.
class DescriptorBudget {
 public:
  /// `each` is the number of descriptors that a connection takes.
  explicit DescriptorBudget(std::size_t each) : each_(each) {}

  /// Returns true if, apart from `spare` descriptors, there are enough for a connection, which the caller then makes.
  bool take(std::size_t spare);

 private:
  std::size_t each_;
  std::size_t left_ = 0;  ///< For how many more connections there were enough at the time counted_.
  std::chrono::steady_clock::time_point counted_;
};

}  // namespace trainyard::core
