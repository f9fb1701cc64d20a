// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/words.h"

namespace trainyard::web {

/// What a visitor of a server may do: only look, or also change the run.
enum class Role : std::uint8_t { kWatch, kControl };
constexpr auto words_of(Role) { return words("role", "watch", "control"); }

}  // namespace trainyard::web
