// SPDX-License-Identifier: Apache-2.0
#include "core/transport/recent_keys.h"

#include <utility>

namespace trainyard::core {

bool RecentKeys::is_new(std::string_view key) {
  std::string kept(key);
  if (older_.contains(kept) || !newest_.insert(std::move(kept)).second) return false;
  if (newest_.size() >= kRemembered) older_ = std::exchange(newest_, {});
  return true;
}

}  // namespace trainyard::core
