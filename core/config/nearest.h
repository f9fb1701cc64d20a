#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// The known name closest to `given` by edit distance (adjacent swaps count once); empty if none is close enough to be
/// meant.
std::string nearest(std::string_view given, std::span<const std::string> known);

/// "; did you mean 'cpu'? known: cpu, cuda" for the end of an error message, or "; known: cpu, cuda", or "; none is
/// known". The known names come out sorted.
std::string suggestion(std::string_view given, std::vector<std::string> known);

}  // namespace trainyard
