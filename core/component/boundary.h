#pragma once

#include <string>

namespace trainyard {

/// What the exception being handled says, whoever threw it: a trainyard::Error, LibTorch (its C++ backtrace is cut
/// off), cereal, toml++, cppzmq or the standard library. The one place where foreign exceptions become words for
/// people. To be called inside a catch block only; throws nothing but bad_alloc.
std::string describe_current_exception();

}  // namespace trainyard
