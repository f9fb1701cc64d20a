// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard {

/// Returns a description of the exception that is being handled: a trainyard::Error, or an exception of LibTorch
/// (without its C++ backtrace), cereal, toml++, cppzmq or the standard library. This is the only function that turns
/// exceptions of other libraries into text for users. Call it only inside a catch block. The only exception that it
/// throws itself is std::bad_alloc.
std::string describe_current_exception();

}  // namespace trainyard
