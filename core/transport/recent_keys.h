// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

namespace trainyard::core {

/// The keys that clients have made for their last connections. If a key is used again, somebody has recorded the first
/// messages of a connection and repeats them.
class RecentKeys {
 public:
  /// At least this many keys are remembered, and at most twice as many.
  static constexpr std::size_t kRemembered = 16 << 10;

  /// Returns true, and remembers the key, if it is not one of the last keys.
  bool is_new(std::string_view key);

 private:
  std::unordered_set<std::string> newest_;
  std::unordered_set<std::string> older_;
};

}  // namespace trainyard::core
