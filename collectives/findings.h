// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/operation_queue.h"

namespace trainyard::collectives {

/// The descriptions of failures that a member detects in its group. The functions take the indices of members; the
/// texts name the ranks of the run and are the same for all backends.
class Findings {
 public:
  Findings(std::string group, std::vector<std::uint32_t> ranks, std::uint32_t own)
      : group_(std::move(group)), ranks_(std::move(ranks)), own_(own) {}

  /// Returns the name of an operation, for error texts: "operation 7 of group 'world', all_reduce(sum) of
  /// float32[100]", or "message 2 from rank 1 to rank 0 in group ...".
  std::string name(const Operation& operation) const;

  /// Describes a disagreement: members called different operations. `requests` contains the request of each member.
  Failure disagreement(const Operation& operation, const std::vector<Request>& requests) const;
  /// Describes the loss of `members` before `operation` was finished. `how` is kLeft if they left the group, and kLost
  /// if their processes ended.
  Failure gone(const std::vector<std::uint32_t>& members, Presence how, const Operation& operation) const;
  /// Describes a timeout: `members` did nothing for `timeout` while the operation `held` waited for them.
  Failure silent(const std::vector<std::uint32_t>& members, const QueuedOperation& held,
                 std::chrono::milliseconds timeout) const;
  /// Describes an exception that a library threw with the text `what`. The members in `silent` no longer answer and are
  /// to blame; the list may be empty.
  Failure broken(const std::vector<std::uint32_t>& silent, const std::string& what) const;
  /// Describes an abort of the group by this member.
  Failure aborted(const std::string& reason) const;
  /// Describes memory of different sizes in the same call of Collective::use(): `member` uses `bytes` bytes, and member
  /// 0 uses `bytes_of_first`.
  Failure different_memory(std::uint32_t member, std::uint64_t bytes, std::uint64_t bytes_of_first) const;

  /// Describes an error that occurred when this member mapped the memory of the others.
  Failure cannot_map(const Error& error) const;

 private:
  std::string ranks_of(const std::vector<std::uint32_t>& members) const;

  std::string group_;
  std::vector<std::uint32_t> ranks_;
  std::uint32_t own_;
};

}  // namespace trainyard::collectives
