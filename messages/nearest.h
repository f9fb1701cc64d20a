// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Returns the known name closest to `given` by edit distance, in which swapping two adjacent letters counts as one
/// edit. Returns an empty string if no name is similar enough.
std::string nearest(std::string_view given, std::span<const std::string> known);

/// Returns the end of an error message about an unknown name: "; did you mean 'cpu'? known: cpu, cuda", or "; known:
/// cpu, cuda", or "; none is known". The known names are sorted.
std::string suggestion(std::string_view given, std::vector<std::string> known);

}  // namespace trainyard
