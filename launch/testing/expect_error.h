// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "messages/error.h"

namespace trainyard::testing {}

namespace trainyard::launch::testing {

using namespace trainyard::testing;

/// Returns the text of the Error that `action` throws, with `folder` + "/" removed wherever it occurs, or "(no error)"
/// if it throws none. Tests can thus check whole messages, although the temporary folder is a new one each time.
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
