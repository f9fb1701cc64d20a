#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/arena.h"

namespace trainyard::optimizer {

/// Which parameters get another learning rate or no weight decay.
struct GroupSettings {
  double weight_decay = 0;
  bool matrices_only = false;         ///< Weight decay only where a tensor has two dimensions or more.
  std::vector<std::string> no_decay;  ///< Glob patterns of names without weight decay.

  struct Scale {
    std::string pattern;
    double factor = 1;
  };
  std::vector<Scale> lr_scale;  ///< The last one that matches counts.
};

/// Reads "encoder.*=0.1"; throws kInvalidArgument for anything else.
GroupSettings::Scale parse_lr_scale(const std::string& text);

/// A run of neighbouring parameters that are updated alike: one call of a kernel. Padding between them is included; it
/// stays zero, because zero parameters with zero gradients and state do not move.
struct Segment {
  std::uint64_t begin = 0;  ///< First element in the flat block.
  std::uint64_t count = 0;  ///< Elements.
  double lr_scale = 1;
  double weight_decay = 0;

  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Few segments for many parameters, in the order of the block. `elements`: size of the block, of `dtype`. Throws
/// kShapeMismatch for an entry of another type or beyond the end.
std::vector<Segment> make_segments(const std::vector<ArenaEntry>& entries, const GroupSettings& settings, DType dtype,
                                   std::uint64_t elements);

/// What lies between the elements `begin` and `begin + count`, counted from `begin`: the segments of a rank that holds
/// this part of the parameters. Elements are updated one by one, so that parts give the same bits as the whole.
std::vector<Segment> clip(const std::vector<Segment>& segments, std::uint64_t begin, std::uint64_t count);

/// Patterns of the settings that match no parameter: most likely misspelt.
std::vector<std::string> unmatched_patterns(const std::vector<ArenaEntry>& entries, const GroupSettings& settings);

}  // namespace trainyard::optimizer
