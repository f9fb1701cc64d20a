// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collectives/tcp/control.h"
#include "collectives/transport.h"

namespace trainyard::tcp {

/// Carries out small operations. When a member announces such an operation, it also sends the other members the
/// elements that they need. So each pair of members exchanges only one frame in each direction. Each member then
/// reduces the elements itself, in the order of the ranks.
class Direct {
 public:
  Direct(const Control& control, std::size_t direct_bytes) : control_(control), direct_bytes_(direct_bytes) {}

  /// Returns true if the operation is small enough to be carried out in this way.
  bool is_direct(const collectives::Operation& operation) const {
    return operation.data.count > 0 && operation.bytes() <= direct_bytes_;
  }

  /// Returns the elements that the calling member sends to `member`; empty if the operation is not small.
  Bytes share_for(std::uint32_t member, const collectives::Operation& operation) const;

  /// Returns the transfer of a small operation on which all members have agreed.
  std::unique_ptr<collectives::Transfer> begin(const collectives::Operation& operation);

 private:
  class Transfer;

  const Control& control_;
  const std::size_t direct_bytes_;
  std::vector<const void*> inputs_;  ///< Reused by all operations, so that they allocate no memory.
};

}  // namespace trainyard::tcp
