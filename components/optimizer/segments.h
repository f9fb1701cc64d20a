// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/words.h"

namespace trainyard::optimizer {

/// The parameters that weight decay applies to: all, or only those with at least two dimensions.
enum class DecayOn : std::uint8_t { kAll, kMatrices };
constexpr auto words_of(DecayOn) { return words("choice of parameters", "all", "matrices"); }

/// The settings by which some parameters have another learning rate or no weight decay.
struct GroupSettings {
  double weight_decay = 0;
  DecayOn decay_on = DecayOn::kAll;
  std::vector<std::string> no_decay;  ///< Glob patterns of parameters without weight decay.

  struct Scale {
    std::string pattern;
    double factor = 1;
  };
  std::vector<Scale> lr_scale;  ///< The last pattern that matches a parameter applies.
};

/// Parses text such as "encoder.*=0.1". Throws kInvalidArgument if it has another form.
GroupSettings::Scale parse_lr_scale(const std::string& text);

/// Adjacent parameters that are updated in the same way, by one call of a kernel. The segment includes the padding
/// between the parameters. The padding stays zero, because zero parameters with zero gradients and state do not change.
struct Segment {
  std::uint64_t begin = 0;  ///< The first element in the flat block.
  std::uint64_t count = 0;  ///< The number of elements.
  double lr_scale = 1;
  double weight_decay = 0;

  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Divides the parameters into few segments, in the order of the block. `elements` is the size of the block, whose type
/// is `dtype`. Throws kShapeMismatch for an entry that has another type or extends beyond the end of the block.
std::vector<Segment> make_segments(const std::vector<ArenaEntry>& entries, const GroupSettings& settings, DType dtype,
                                   std::uint64_t elements);

/// Returns the segments of a rank that holds the elements from `begin` to `begin + count` of the parameters, with
/// offsets counted from `begin`. Elements are updated independently, so the ranks' updates of their parts are
/// bit-identical to one update of the whole block.
std::vector<Segment> clip(const std::vector<Segment>& segments, std::uint64_t begin, std::uint64_t count);

/// Returns the patterns in the settings that match no parameter, which are most likely misspelt.
std::vector<std::string> unmatched_patterns(const std::vector<ArenaEntry>& entries, const GroupSettings& settings);

}  // namespace trainyard::optimizer
