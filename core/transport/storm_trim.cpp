// SPDX-License-Identifier: Apache-2.0
#include "core/transport/storm_trim.h"

#include <malloc.h>

#include <utility>

namespace trainyard::core {
namespace {

/// There is a storm if there are more unread bytes than this, or more messages than this between two checks.
constexpr std::uint64_t kMuchUnread = 4 << 20;
constexpr std::uint64_t kManyMessages = 1000;

}  // namespace

void StormTrim::check(std::uint64_t unread) {
  if (std::exchange(received_, 0) > kManyMessages || unread > kMuchUnread) {
    stormy_ = true;
  } else if (std::exchange(stormy_, false)) {
    ::malloc_trim(0);
  }
}

}  // namespace trainyard::core
