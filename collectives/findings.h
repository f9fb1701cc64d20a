// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/operation_queue.h"

namespace trainyard::collectives {

/// Makes the error texts for failures in a group of ranks, which are the same for all collectives. The functions take
/// the indices of members within the group; the texts name the ranks of the run. `own` is the index of the member that
/// the object belongs to.
class Findings {
 public:
  Findings(std::string group, std::vector<std::uint32_t> ranks, std::uint32_t own)
      : group_(std::move(group)), ranks_(std::move(ranks)), own_(own) {}

  /// Returns the name of an operation, for error texts: "operation 7 of group 'world', all_reduce(sum) of
  /// float32[100]", or "message 2 from rank 1 to rank 0 in group ...".
  std::string name(const Operation& operation) const;

  /// Describes a failure that was caused by members calling different operations. `requests` contains the arguments of
  /// each member's call.
  Failure disagreement(const Operation& operation, const std::vector<Request>& requests) const;
  /// Describes a failure in which `members` were gone before `operation` finished. `how` is kLeft if they left the
  /// group normally, and kLost if their processes or connections were lost.
  Failure gone(const std::vector<std::uint32_t>& members, Presence how, const Operation& operation) const;
  /// Describes a timeout: the operation `held` waited for `members`, which did nothing for the duration `timeout`.
  Failure silent(const std::vector<std::uint32_t>& members, const QueuedOperation& held,
                 std::chrono::milliseconds timeout) const;
  /// Describes an exception with the text `what` that a library threw. The error text blames the members in `silent`,
  /// which no longer answer; the list may be empty.
  Failure broken(const std::vector<std::uint32_t>& silent, const std::string& what) const;
  /// Describes a call to Collective::abort() by member `own`, with `reason` as its argument.
  Failure aborted(const std::string& reason) const;
  /// Describes calls to Collective::use() with memory of different sizes: `bytes` bytes at `member`, and
  /// `bytes_of_first` bytes at member 0.
  Failure different_memory(std::uint32_t member, std::uint64_t bytes, std::uint64_t bytes_of_first) const;

  /// Describes an error that occurred when member `own` mapped the memory of the others.
  Failure cannot_map(const Error& error) const;

 private:
  std::string ranks_of(const std::vector<std::uint32_t>& members) const;

  std::string group_;
  std::vector<std::uint32_t> ranks_;
  std::uint32_t own_;
};

}  // namespace trainyard::collectives
