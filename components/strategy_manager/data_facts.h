// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "components/strategy_manager/run_settings.h"
#include "core/state/state.h"
#include "messages/dataset_info.h"
#include "messages/words.h"

namespace trainyard::manager {

/// A property in which a checkpoint may differ from the run that resumes it, if the user allows this.
enum class Difference : std::uint8_t {
  kSeed,        ///< The seed of the order of the samples.
  kSampling,    ///< The way the samples are ordered.
  kDataset,     ///< The dataset, or the number of its training samples.
  kVocabulary,  ///< The classes or tokens, or their texts.
  kLearnt,      ///< Other facts that the dataset has learnt from its data.
  kPosition,    ///< The checkpoint contains the position in batches, but not the batch size.
};
constexpr auto words_of(Difference) {
  return words("difference from the checkpoint", "seed", "sampling", "dataset", "vocabulary", "learnt", "position");
}

/// The name of the facts about the data in checkpoints.
inline constexpr const char* kDataState = "data";

/// Returns the facts about the data that a checkpoint must contain, for comparison with the data of a run that resumes
/// it.
std::vector<SavedState> data_state(const DatasetInfo& data);

/// Compares the data of a checkpoint with the data of this run. In mode fit, the number and the order of the samples
/// must be the same, because otherwise the position in the epoch would refer to other samples. In every mode, the facts
/// that the dataset has learnt from its data must be the same, because the model's outputs are numbers of these classes
/// or tokens.
///
/// Calls `accepted` with a sentence for every difference that is in `may_differ`. If there are other differences,
/// throws kInvalidArgument; the text lists them and the setting that would allow them.
void check_same_data(const StateReader& saved, const DatasetInfo& data, const RunSettings& settings,
                     const std::function<void(const std::string&)>& accepted);

/// Returns the differences with these names. Throws kInvalidArgument, with the nearest name, for a name that does not
/// exist.
std::vector<Difference> differences_named(const std::vector<std::string>& names);

}  // namespace trainyard::manager
