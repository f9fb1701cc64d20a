#pragma once

#include <functional>
#include <string>
#include <vector>

#include "components/checkpoint_writer/run_record.h"
#include "components/checkpoint_writer/state_layout.h"

namespace trainyard {

/// Where a run goes on: the checkpoint that was taken, and what its run.json says.
struct Resumed {
  std::string path;
  RunRecord run;
};

/// The checkpoints to try, in this order. `what`: "last" or "best" of `directory`, each followed by those before it;
/// the path of a directory of checkpoints, as "last" of that; or the path of one checkpoint, and then no other, since a
/// person meant this one. Throws kNotFound.
std::vector<std::string> resume_candidates(const std::string& what, const std::string& directory);

/// Fills the blocks of `layout` from the first candidate that is whole. `warn` is told of every broken one, and why.
/// Throws kCorrupt with all reasons if none is whole, and kShapeMismatch, naming the tensor and both shapes, if a whole
/// one is of another model; then nothing has been filled. A checkpoint without optimizer state, or a run without
/// optimizer, is a warning.
Resumed resume_from(const std::vector<std::string>& candidates, const StateLayout& layout,
                    const std::function<void(const std::string&)>& warn);

}  // namespace trainyard
