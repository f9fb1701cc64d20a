// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::viewer {

/// The ranks whose parts a sum contains. Every rank sends its part of the sum, such as the counts of its own samples,
/// in a separate message. A step can also be repeated, for example by a resumed launch. The messages of the repetition
/// must replace the sum instead of being added to it.
class AddedRanks {
 public:
  /// The maximum number of ranks; a further rank begins a new sum. A limit is needed because the messages come from
  /// untrusted sources.
  static constexpr std::size_t kMost = 4096;

  /// Adds the rank of a message that `ranks` ranks send. Returns true if the part in the message must be added to the
  /// sum, and false if the sum begins anew with this part: if this is the first part, if the sum is complete or already
  /// contains a part of this rank, or if its parts come from another number of ranks.
  bool add(std::uint32_t rank, std::uint32_t ranks);

 private:
  std::uint32_t ranks_ = 0;
  std::vector<std::uint32_t> added_;  ///< Empty once the sum is complete, since the viewer keeps thousands of sums.
};

}  // namespace trainyard::viewer
