// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checkpoints/run_record.h"
#include "components/checkpoint_writer/state_layout.h"

namespace trainyard {

/// Where a run continues: the chosen checkpoint, and the content of its run.json, with the data of the states' tensors.
struct Resumed {
  std::string path;
  checkpoints::RunRecord run;
};

/// Returns the paths of the checkpoints to try, in this order. `what` is one of: "last" or "best", for this checkpoint
/// of `directory` and then the earlier ones, newest first; the path of a directory of checkpoints, with the same
/// meaning as "last" for this directory; or the path of a single checkpoint. Throws kNotFound if there is none.
std::vector<std::string> resume_candidates(const std::string& what, const std::string& directory);

/// Fills the blocks of `layout` from the first candidate that is complete. Calls `warn` for every broken candidate,
/// with the reason. Also calls `warn` if the checkpoint has no optimizer state, if the run has no optimizer, or if a
/// rank has its own optimizer state and the checkpoint does not contain it.
///
/// Throws kCorrupt with all reasons if no candidate is complete, and kShapeMismatch, naming the tensor and both shapes,
/// or kTypeMismatch, naming both dtypes, if a complete candidate belongs to another model. In both cases no block is
/// changed.
Resumed resume_from(const std::vector<std::string>& candidates, const StateLayout& layout,
                    const std::function<void(const std::string&)>& warn);

}  // namespace trainyard
