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

/// The kinds of differences between the data on which the model in a checkpoint was trained and the data of the run
/// that resumes from the checkpoint. The user can permit each kind with the parameter `may_differ`.
enum class Difference : std::uint8_t {
  kSeed,        ///< The seed that determines the order of the samples.
  kSampling,    ///< The data loader's parameter `sampling`, which determines the order of the samples.
  kDataset,     ///< The dataset, or the number of its training samples.
  kVocabulary,  ///< The number of classes, or the texts that the classes or tokens stand for.
  kLearnt,      ///< Other values that the dataset computes from its data, such as means for normalisation.
  kPosition,  ///< An old checkpoint counts the position in batches but lacks their size, so the position is uncertain.
};
constexpr auto words_of(Difference) {
  return words("difference from the checkpoint", "seed", "sampling", "dataset", "vocabulary", "learnt", "position");
}

/// The name under which checkpoints store the description of the data.
inline constexpr const char* kDataState = "data";

/// Returns the states that describe the data, for storage in checkpoints. A run that resumes compares them with its own
/// data.
std::vector<SavedState> data_state(const DatasetInfo& data);

/// Compares the data of a checkpoint, as described by `saved`, with the data of this run. In the mode `fit`, the number
/// and the order of the samples must be the same, because otherwise the position in the epoch would refer to other
/// samples. In every mode, the classes, tokens and other values that the dataset computes from its data must be the
/// same, because the model was trained with them.
///
/// Calls `accepted` with a text for every difference that RunSettings::may_differ permits. Throws kInvalidArgument if
/// there are other differences. The error names all of them, and the setting that would permit them.
void check_same_data(const StateReader& saved, const DatasetInfo& data, const RunSettings& settings,
                     const std::function<void(const std::string&)>& accepted);

/// Returns true if two data loaders of a run have announced the same data. All of them must announce the same data,
/// because each rank reads a different part of the same samples.
bool is_same_data(const DatasetInfo& a, const DatasetInfo& b);

/// Compares the data that two ranks have announced, like check_same_data(). In every mode, the number and the order of
/// the samples must be the same.
void check_same_data_on_ranks(const DatasetInfo& first, const DatasetInfo& other, const RunSettings& settings,
                              const std::function<void(const std::string&)>& accepted);

/// Returns the kinds of differences with these names. Throws kInvalidArgument, suggesting a similar name, if a name
/// does not exist.
std::vector<Difference> differences_named(const std::vector<std::string>& names);

}  // namespace trainyard::manager
