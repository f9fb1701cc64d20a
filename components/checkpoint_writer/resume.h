// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "checkpoints/run_record.h"
#include "components/checkpoint_writer/state_layout.h"

namespace trainyard {

/// The checkpoint from which a run resumes. `run` contains its file run.json, and the tensors of all states.
struct Resumed {
  std::string path;
  checkpoints::RunRecord run;
  /// The indices (in StateLayout::blocks) of the blocks whose values have been read from the checkpoint.
  std::set<std::size_t> filled;
};

/// Returns the paths of the checkpoints from which a run can resume, in the order in which they must be tried. `what`
/// is the value of the parameter `resume`: "last" or "best" means that checkpoint in `directory`, followed by all
/// earlier ones, newest first. The path of another directory means "last" in that directory. The path of a checkpoint
/// means only that checkpoint. "auto" is the same as "last", except that the result may be empty. With any other value,
/// throws kNotFound if there is no checkpoint.
std::vector<std::string> resume_candidates(const std::string& what, const std::string& directory);

/// Fills the blocks of `layout` from the first candidate that is complete. Calls `warn` in three cases: for every
/// candidate that is broken; if only the checkpoint or only the run has an optimizer; and if ranks have an optimizer
/// state of their own (StateLayout::own) that the checkpoint does not contain.
///
/// Throws kCorrupt with all reasons if no candidate is complete. If a complete candidate belongs to another model,
/// throws kShapeMismatch, naming the tensor and both shapes, or kTypeMismatch, naming both dtypes.
Resumed resume_from(const std::vector<std::string>& candidates, const StateLayout& layout,
                    const std::function<void(const std::string&)>& warn);

}  // namespace trainyard
