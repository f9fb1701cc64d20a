// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/words.h"

namespace trainyard::web {

/// What a client of a server may do: only watch the run, or also change it.
enum class Role : std::uint8_t { kWatch, kControl };
constexpr auto words_of(Role) { return words("role", "watch", "control"); }

}  // namespace trainyard::web
