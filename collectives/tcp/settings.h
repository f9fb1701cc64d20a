// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "messages/words.h"
#include "streams/network.h"

namespace trainyard::tcp {

/// The value of the parameter `interface` with which the interface is chosen automatically.
inline constexpr const char* kAutomatic = "auto";

/// The order in which the values of the ranks are added.
enum class Order : std::uint8_t {
  kRanks,  ///< The order of the ranks; the results have the same bits as those of the collective `shared_memory`.
  kAny,    ///< An order that depends on the element and on the number of ranks, but not on timing.
};

constexpr auto words_of(Order) { return words("order", "ranks", "any"); }

/// The values of the collective's parameters.
struct Settings {
  std::string interface;
  streams::Ports ports;
  std::uint32_t streams = 2;
  std::size_t record_bytes = 512 << 10;
  std::size_t small_bytes = 16 << 10;
  Order order = Order::kRanks;
  bool encrypt = true;

  /// Returns the size in bytes of the largest operation in which every member sends its elements directly to every
  /// other member. `members` must be at least 2. With more than five members, the size decreases, because each member
  /// would otherwise send too much.
  std::size_t direct_bytes(std::uint32_t members) const {
    return std::min(small_bytes, 4 * small_bytes / (members - 1));
  }

  /// Returns a text with all settings that must be the same for all members, so that members can compare them.
  std::string common() const {
    return fmt::format("streams = {}, record_bytes = {}, small_bytes = {}, order = \"{}\", encrypt = {}", streams,
                       record_bytes, small_bytes, name_of(order), encrypt);
  }
};

}  // namespace trainyard::tcp
