// SPDX-License-Identifier: Apache-2.0
#include "core/component/port.h"

#include "messages/error.h"

namespace trainyard {

std::string_view name_of(Policy policy) {
  switch (policy) {
    case Policy::kBlock:
      return "block";
    case Policy::kLatest:
      return "latest";
    case Policy::kDropOldest:
      return "drop_oldest";
  }
  return "unknown";
}

Policy policy_named(std::string_view name) {
  for (const Policy policy : {Policy::kBlock, Policy::kLatest, Policy::kDropOldest}) {
    if (name == name_of(policy)) return policy;
  }
  throw Error(Code::kInvalidArgument, "edge policy '{}' is not allowed; one of: block, latest, drop_oldest", name);
}

}  // namespace trainyard
