// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/error.h"

namespace trainyard::launch {

/// The position in a launch file at which a value was written. Every value keeps its origin, because most errors are
/// found long after the file was read.
struct Origin {
  std::string file;  ///< The path used to open the file; empty for the command line.
  std::uint32_t line = 0;
};

/// Returns the origin as text: "mnist.toml:12", for example, or "command line".
std::string to_text(const Origin& origin);

/// Returns an error in the form that all errors about launch files have: "mnist.toml:12: run.seed: ...", where "..." is
/// `text`. If `key` is empty, it is omitted together with its colon.
Error error_at(const Origin& origin, std::string_view key, std::string_view text, Code code = Code::kInvalidArgument);

}  // namespace trainyard::launch
