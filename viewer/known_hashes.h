// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_set>

namespace trainyard::viewer {

/// Recognises duplicates by their hashes. The viewer learns most facts twice, from a message and from a file. Only the
/// newest hashes are kept. By the time a hash is removed, both sources have delivered the fact, so it does not arrive
/// again.
class KnownHashes {
 public:
  explicit KnownHashes(std::size_t limit) : limit_(limit) {}

  /// Adds a hash. Returns false if it is already known.
  bool add(std::uint64_t hash) {
    if (!known_.insert(hash).second) return false;
    oldest_first_.push_back(hash);
    if (oldest_first_.size() <= limit_) return true;
    known_.erase(oldest_first_.front());
    oldest_first_.pop_front();
    return true;
  }

 private:
  std::size_t limit_;
  std::unordered_set<std::uint64_t> known_;
  std::deque<std::uint64_t> oldest_first_;
};

}  // namespace trainyard::viewer
