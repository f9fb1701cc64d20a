// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "messages/error.h"

namespace trainyard::testing {

/// Returns the code and the text of the Error that `action` throws. If `action` throws nothing, the code is kInternal
/// and the text is empty. Exceptions of other types are passed on.
template <class Action>
std::pair<Code, std::string> error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Code::kInternal, ""};
}

}  // namespace trainyard::testing
