// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainyard::core {

/// Returns memory to the operating system after a storm: a period in which visitors (programs that attach to a running
/// launch) have sent many messages or have left many bytes unread. The memory that libzmq frees after a storm stays
/// with the allocator until the allocator is asked to return it.
class StormTrim {
 public:
  /// Records that `messages` messages from visitors were received.
  void add(std::uint64_t messages) { received_ += messages; }

  /// Returns the memory to the operating system if there was a storm and it is over; otherwise does nothing. Call this
  /// at regular intervals, about once a second. `unread` is the number of bytes that visitors have not read yet.
  void check(std::uint64_t unread);

 private:
  std::uint64_t received_ = 0;  ///< The number of messages received since the last call of check().
  bool stormy_ = false;         ///< True if there has been a storm since memory was last returned.
};

}  // namespace trainyard::core
