#pragma once

#include <string>

namespace trainyard {

/// Describes the exception being handled, whoever threw it: a trainyard::Error, LibTorch (whose C++ backtrace is cut
/// off), cereal, toml++, cppzmq or the standard library. This is the one place that turns foreign exceptions into words
/// for people. Call it only inside a catch block. It throws nothing but bad_alloc.
std::string describe_current_exception();

}  // namespace trainyard
