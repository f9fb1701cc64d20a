#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checkpoints/run_record.h"
#include "components/checkpoint_writer/state_layout.h"

namespace trainyard {

/// Where a run continues: the checkpoint that was chosen, and what its run.json says.
struct Resumed {
  std::string path;
  checkpoints::RunRecord run;
};

/// The checkpoints to try, in this order. `what` is "last" or "best" of `directory`, which are followed by the
/// checkpoints before them; or the path of a directory of checkpoints, which means "last" of it; or the path of one
/// checkpoint, which is then the only one, since a person chose it. Throws kNotFound.
std::vector<std::string> resume_candidates(const std::string& what, const std::string& directory);

/// Fills the blocks of `layout` from the first candidate that is complete. `warn` is told of every broken one, and why.
/// A checkpoint without optimizer state, or a run without an optimizer, is a warning.
///
/// Throws kCorrupt with all reasons if no candidate is complete, and kShapeMismatch, naming the tensor and both shapes,
/// if a complete one belongs to another model. In both cases nothing has been filled.
Resumed resume_from(const std::vector<std::string>& candidates, const StateLayout& layout,
                    const std::function<void(const std::string&)>& warn);

}  // namespace trainyard
