// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collectives/tcp/control.h"
#include "collectives/transport.h"

namespace trainyard::tcp {

/// Carries out small operations. Together with its request, every member sends to each other member all elements that
/// the other needs from it. So the operation takes a single message in each direction, and each member reduces the
/// elements itself, in the order of the ranks.
class Direct {
 public:
  Direct(const Control& control, std::size_t direct_bytes) : control_(control), direct_bytes_(direct_bytes) {}

  bool is_direct(const collectives::Operation& operation) const {
    return operation.data.count > 0 && operation.bytes() <= direct_bytes_;
  }

  /// Returns the elements that this member sends to `member`; empty if the operation is not small.
  Bytes share_for(std::uint32_t member, const collectives::Operation& operation) const;

  /// Returns the transfer of a small operation on which all members have agreed.
  std::unique_ptr<collectives::Transfer> begin(const collectives::Operation& operation);

 private:
  class Transfer;

  const Control& control_;
  const std::size_t direct_bytes_;
  std::vector<const void*> inputs_;  ///< A list of addresses that is kept, so that no operation allocates memory.
};

}  // namespace trainyard::tcp
