#pragma once

#include <string>

namespace trainyard {

/// What the exception being handled says, whoever threw it: a trainyard::Error, LibTorch (its C++ backtrace is cut
/// off), cereal, toml++, cppzmq or the standard library. The one place where foreign exceptions become words for
/// people.
std::string describe_current_exception();

}  // namespace trainyard
