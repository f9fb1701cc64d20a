// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/operation_queue.h"

namespace trainyard::collectives {

/// Describes the failures that a member detects in its group. The functions take the indices of members; the texts name
/// the ranks of the run and are the same for all backends.
class Findings {
 public:
  Findings(std::string group, std::vector<std::uint32_t> ranks, std::uint32_t own)
      : group_(std::move(group)), ranks_(std::move(ranks)), own_(own) {}

  /// Names an operation: "operation 7 of group 'world', all_reduce(sum) of float32[100]", or "message 2 from rank 1 to
  /// rank 0 in group ...".
  std::string name(const Operation& operation) const;

  /// Describes that members called different operations. `requests` contains the request of each member.
  Failure disagreement(const Operation& operation, const std::vector<Request>& requests) const;
  /// Describes that `members` have left the group or that their processes have ended.
  Failure gone(const std::vector<std::uint32_t>& members, Presence how, const Operation& operation) const;
  /// Describes a timeout: `members` did nothing for `timeout` while `held` waited for them.
  Failure silent(const std::vector<std::uint32_t>& members, const QueuedOperation& held,
                 std::chrono::milliseconds timeout) const;
  /// Describes an exception of a library with the text `what`. If `silent` is not empty, its members no longer answer
  /// and are to blame.
  Failure broken(const std::vector<std::uint32_t>& silent, const std::string& what) const;
  /// Describes that this member has given up, with the reason.
  Failure aborted(const std::string& reason) const;
  /// Describes that, in the same call, `member` uses memory of `bytes` bytes while the first member uses
  /// `bytes_of_first`.
  Failure different_memory(std::uint32_t member, std::uint64_t bytes, std::uint64_t bytes_of_first) const;

  /// Describes that this member cannot map the others' memory.
  Failure cannot_map(const Error& error) const;

 private:
  std::string ranks_of(const std::vector<std::uint32_t>& members) const;

  std::string group_;
  std::vector<std::uint32_t> ranks_;
  std::uint32_t own_;
};

}  // namespace trainyard::collectives
