#pragma once

#include <string>

namespace trainyard::launch {

/// The path of `trainyard-process` that belongs to the program that asks: `../libexec/trainyard/` from its folder, or
/// beside it in a build tree. Throws kNotFound with both.
std::string find_process_program();

}  // namespace trainyard::launch
