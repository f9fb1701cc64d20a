// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "messages/error.h"

namespace trainyard::testing {}

namespace trainyard::launch::testing {

using namespace trainyard::testing;

/// Calls `action` and returns the text of the Error that it throws, or "(no error)" if it throws none. `folder` + "/"
/// is removed from the text, so that tests can compare whole messages although the temporary folder is different each
/// time.
template <class Action>
std::string error_of(Action&& action, const std::string& folder = "") {
  std::string text = "(no error)";
  try {
    action();
  } catch (const Error& error) {
    text = error.what();
  }
  const std::string prefix = folder + "/";
  for (std::size_t at; !folder.empty() && (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
  return text;
}

}  // namespace trainyard::launch::testing
