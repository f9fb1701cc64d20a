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

/// What of a checkpoint may differ from the run that resumes it, if the user says so.
enum class Difference : std::uint8_t {
  kSeed,        ///< The seed of the order of the samples.
  kSampling,    ///< The way in which they are ordered.
  kDataset,     ///< The dataset, or the number of its training samples.
  kVocabulary,  ///< The classes or tokens, or their texts.
  kLearnt,      ///< Other facts that the dataset has learnt from its data.
  kPosition,    ///< The checkpoint says the position in batches, whose size it does not know.
};
constexpr auto words_of(Difference) {
  return words("difference from the checkpoint", "seed", "sampling", "dataset", "vocabulary", "learnt", "position");
}

/// Under this name checkpoints keep what they say about the data.
inline constexpr const char* kDataState = "data";

/// Returns what a checkpoint has to say about the data, so that a run that resumes it can be compared.
std::vector<SavedState> data_state(const DatasetInfo& data);

/// Compares the data of a checkpoint with that of this run. A fit must have the same order of the same number of
/// samples, because only then the position in the epoch means the same samples. Every mode must have what the dataset
/// has learnt from its data, because the model's outputs are numbers that stand for these classes and tokens.
///
/// Calls `accepted` with a sentence for every difference that is in `may_differ`. Throws kInvalidArgument with all
/// others, and with the setting that would accept them.
void check_same_data(const StateReader& saved, const DatasetInfo& data, const RunSettings& settings,
                     const std::function<void(const std::string&)>& accepted);

/// Returns the differences with these names. Throws kInvalidArgument with the nearest name for one that does not exist.
std::vector<Difference> differences_named(const std::vector<std::string>& names);

}  // namespace trainyard::manager
