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

/// The checkpoint that a run continues from: its path, and the content of its run.json together with the tensors of all
/// states.
struct Resumed {
  std::string path;
  checkpoints::RunRecord run;
  std::set<std::size_t> filled;  ///< The blocks of the layout that got their values from the checkpoint, by index.
};

/// Returns the paths of the checkpoints from which a run can resume, in the order in which they must be tried. If
/// `what` is "last" or "best", these are that checkpoint of `directory`, followed by all earlier checkpoints, newest
/// first. If `what` is the path of another directory of checkpoints, it stands for "last" in that directory. If `what`
/// is the path of one checkpoint, that checkpoint is the only candidate. "auto" is the same as "last", except that the
/// result may be empty. In all other cases, throws kNotFound if there is no candidate.
std::vector<std::string> resume_candidates(const std::string& what, const std::string& directory);

/// Fills the blocks of `layout` from the first candidate that is complete. Calls `warn` with the reason for every
/// broken candidate. Also calls `warn` if the checkpoint has no optimizer state but the run has an optimizer, or the
/// other way round. Finally, calls `warn` if the checkpoint lacks separate optimizer state that some of the ranks need.
///
/// Throws kCorrupt with all reasons if no candidate is complete. If a complete candidate belongs to another model,
/// throws kShapeMismatch, naming the tensor and both shapes, or kTypeMismatch, naming both dtypes.
Resumed resume_from(const std::vector<std::string>& candidates, const StateLayout& layout,
                    const std::function<void(const std::string&)>& warn);

}  // namespace trainyard
