// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

namespace trainyard::core {

/// The keys of recent connections. Each client makes a new key for every connection, so if a key is used again,
/// somebody has recorded the beginning of a connection and is replaying it.
class RecentKeys {
 public:
  /// At least this many of the most recent keys are remembered, and at most twice as many.
  static constexpr std::size_t kRemembered = 16 << 10;

  /// Returns false if the key is one of the remembered keys. Otherwise remembers it and returns true.
  bool is_new(std::string_view key);

 private:
  std::unordered_set<std::string> newest_;
  std::unordered_set<std::string> older_;
};

}  // namespace trainyard::core
