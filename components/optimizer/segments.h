// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/words.h"

namespace trainyard::optimizer {

/// To which parameters weight decay applies: all, or only those with at least two dimensions.
enum class DecayOn : std::uint8_t { kAll, kMatrices };
constexpr auto words_of(DecayOn) { return words("choice of parameters", "all", "matrices"); }

/// Settings that give some parameters a different learning rate or no weight decay.
struct GroupSettings {
  double weight_decay = 0;
  DecayOn decay_on = DecayOn::kAll;
  std::vector<std::string> no_decay;  ///< Glob patterns of parameters without weight decay.

  struct Scale {
    std::string pattern;
    double factor = 1;
  };
  std::vector<Scale> lr_scale;  ///< If several patterns match a parameter, the last one counts.
};

/// Parses a text such as "encoder.*=0.1". Throws kInvalidArgument if it has another form.
GroupSettings::Scale parse_lr_scale(const std::string& text);

/// A contiguous range of parameters with the same settings, which one call of a kernel updates. It includes the padding
/// between the parameters, which stays zero, because zeros with zero gradients and zero state do not change.
struct Segment {
  std::uint64_t begin = 0;  ///< The first element in the flat block.
  std::uint64_t count = 0;  ///< The number of elements.
  double lr_scale = 1;
  double weight_decay = 0;

  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Divides the block of parameters into as few segments as possible, in ascending order. `entries` are the positions of
/// the parameters, `elements` is the size of the block, and `dtype` is its type. Throws kShapeMismatch for a parameter
/// that has another type or extends beyond the end of the block.
std::vector<Segment> make_segments(const std::vector<ArenaEntry>& entries, const GroupSettings& settings, DType dtype,
                                   std::uint64_t elements);

/// Returns the segments of a rank that updates only the elements [begin, begin + count) of the parameters, with offsets
/// counted from `begin`. Elements are updated independently, so the results are bit-identical to those of one update of
/// the whole block.
std::vector<Segment> clip(const std::vector<Segment>& segments, std::uint64_t begin, std::uint64_t count);

/// Returns the patterns in `settings` that match no parameter in `entries`. They are probably misspelt.
std::vector<std::string> unmatched_patterns(const std::vector<ArenaEntry>& entries, const GroupSettings& settings);

}  // namespace trainyard::optimizer
