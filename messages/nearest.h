// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Returns the known name closest to `given` by edit distance. Swapping two adjacent letters counts as one edit. The
/// number of edits may be at most two or a third of the number of letters in `given`, whichever is larger. If no name
/// is this close, returns the first known name that begins with `given`, provided that `given` has at least three
/// letters. Otherwise, returns an empty string.
std::string nearest(std::string_view given, std::span<const std::string> known);

/// Returns the end of an error message about an unknown name: "; did you mean 'cpu'? known: cpu, cuda", or "; known:
/// cpu, cuda", or "; none is known". The first form is used if nearest() returns a name, the second if it does not, and
/// the last if `known` is empty. The known names are listed in alphabetical order, without duplicates.
std::string suggestion(std::string_view given, std::vector<std::string> known);

}  // namespace trainyard
