#pragma once

#include <string>
#include <utility>

#include "messages/error.h"

namespace trainyard::testing {

/// The code and the message of the Error that `action` throws; the code is kInternal and the text empty if it throws
/// none.
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
