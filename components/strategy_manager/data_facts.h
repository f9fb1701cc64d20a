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

/// The kinds of differences between a checkpoint's data and the data of the run that resumes it. The user can permit
/// each of them.
enum class Difference : std::uint8_t {
  kSeed,        ///< The seed that determines the order of the samples.
  kSampling,    ///< The way in which the samples are ordered (sampling).
  kDataset,     ///< The dataset, or the number of its training samples.
  kVocabulary,  ///< The classes or tokens, or their texts.
  kLearnt,      ///< Other facts that the dataset has learnt from its data.
  kPosition,    ///< The checkpoint contains the position in batches, but not the size of the batches.
};
constexpr auto words_of(Difference) {
  return words("difference from the checkpoint", "seed", "sampling", "dataset", "vocabulary", "learnt", "position");
}

/// The name under which checkpoints keep the description of the data.
inline constexpr const char* kDataState = "data";

/// Returns a description of the data for checkpoints. A run that resumes compares it with its own data.
std::vector<SavedState> data_state(const DatasetInfo& data);

/// Compares the data of a checkpoint with the data of this run. In the mode `fit`, the number and the order of the
/// samples must be the same, because otherwise the position in the epoch would refer to other samples. In every mode,
/// the classes, tokens and other facts that the dataset has learnt from its data must be the same. The model's inputs
/// and outputs are numbers that stand for them.
///
/// Calls `accepted` with a sentence for every difference that RunSettings::may_differ permits. Throws kInvalidArgument
/// if there are other differences; the text names all of them, and the setting that would permit them.
void check_same_data(const StateReader& saved, const DatasetInfo& data, const RunSettings& settings,
                     const std::function<void(const std::string&)>& accepted);

/// Returns whether two data loaders of a run announce the same data, as all ranks need it: each takes its own part of
/// the same samples.
bool is_same_data(const DatasetInfo& a, const DatasetInfo& b);

/// Compares the data of two ranks. Calls `accepted` and throws as check_same_data() does.
void check_same_data_on_ranks(const DatasetInfo& first, const DatasetInfo& other, const RunSettings& settings,
                              const std::function<void(const std::string&)>& accepted);

/// Returns the differences with these names. Throws kInvalidArgument, with the nearest name, for a name that does not
/// exist.
std::vector<Difference> differences_named(const std::vector<std::string>& names);

}  // namespace trainyard::manager
