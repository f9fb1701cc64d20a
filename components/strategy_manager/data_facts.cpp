// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/data_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::manager {
namespace {

using nlohmann::json;

struct Found {
  Difference kind;
  std::string text;  ///< Such as "seed is 1 there and 2 here".
};

/// A class may have a name that is not valid UTF-8.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::uint64_t train_samples(const DatasetInfo& data) {
  const auto train = std::ranges::find(data.splits, kTrainSplit, &SplitInfo::name);
  return train == data.splits.end() ? 0 : train->samples;
}

/// Says what a user accepts with a difference.
const char* consequence_of(Difference kind) {
  if (kind == Difference::kVocabulary) return "so the model's outputs stand for other texts than in its training";
  if (kind == Difference::kLearnt) return "so the model sees other values than in its training";
  return "so samples of the epoch may come twice or not at all";
}

template <class T>
void compare(std::vector<Found>& found, Difference kind, const char* name, const T& there, const T& here) {
  if (there != here) found.push_back({kind, fmt::format("{} is {} there and {} here", name, there, here)});
}

/// Says where two vocabularies differ first, which shows a reader which of them is the wrong one.
void compare_vocabularies(std::vector<Found>& found, const json& there, const json& here) {
  if (there == here) return;
  std::size_t first = 0;
  while (first < there.size() && first < here.size() && there[first] == here[first]) ++first;
  const auto text = [first](const json& list) { return first < list.size() ? dump(list[first]) : "nothing"; };
  found.push_back(
      {Difference::kVocabulary, fmt::format("the vocabulary has {} entries there and {} here, and number {} "
                                            "is {} there and {} here",
                                            there.size(), here.size(), first, text(there), text(here))});
}

std::vector<Found> differences(const StateReader& saved, const DatasetInfo& data, bool fit) {
  std::vector<Found> found;
  if (fit) {
    compare(found, Difference::kSeed, "the seed", saved.count("seed"), data.seed);
    compare(found, Difference::kSampling, "sampling", saved.text("sampling"), data.sampling);
    compare(found, Difference::kDataset, "the dataset", saved.text("dataset"), data.dataset);
    compare(found, Difference::kDataset, "the number of training samples", saved.count("samples"), train_samples(data));
  }
  compare(found, Difference::kVocabulary, "the number of classes", saved.count("classes"), data.classes);
  compare_vocabularies(found, json::parse(saved.json("vocabulary")), json::parse(dump(data.vocabulary)));
  const json there = json::parse(saved.json("learnt")), here = json::parse(dump(data.learnt));
  if (there != here) {
    found.push_back(
        {Difference::kLearnt, fmt::format("the dataset has learnt {} there and {} here", dump(there), dump(here))});
  }
  return found;
}

}  // namespace

std::vector<SavedState> data_state(const DatasetInfo& data) {
  StateWriter writer(kDataState, 0);
  writer.set("dataset", data.dataset);
  writer.set("samples", train_samples(data));
  writer.set("seed", data.seed);
  writer.set("sampling", data.sampling);
  writer.set("classes", data.classes);
  writer.set_json("vocabulary", dump(data.vocabulary));
  writer.set_json("learnt", dump(data.learnt));
  return writer.take();
}

void check_same_data(const StateReader& saved, const DatasetInfo& data, const RunSettings& settings,
                     const std::function<void(const std::string&)>& accepted) {
  std::vector<std::string> refused, names;
  for (const Found& found : differences(saved, data, settings.mode == RunMode::kFit)) {
    if (std::ranges::find(settings.may_differ, found.kind) != settings.may_differ.end()) {
      accepted(fmt::format("{}, {}", found.text, consequence_of(found.kind)));
      continue;
    }
    refused.push_back(found.text);
    const std::string name = fmt::format("\"{}\"", name_of(found.kind));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  if (refused.empty()) return;
  throw Error(Code::kInvalidArgument,
              "the data of this run is not that of the checkpoint it resumes: {}; allowed: the same data, or "
              "may_differ = [{}] in [run], which accepts the difference",
              fmt::join(refused, "; "), fmt::join(names, ", "));
}

std::vector<Difference> differences_named(const std::vector<std::string>& names) {
  std::vector<Difference> found;
  for (const std::string& name : names) {
    const auto difference = find_by_name<Difference>(name);
    if (!difference) {
      const auto& known = kWords<Difference>.values;
      throw Error(Code::kInvalidArgument, "may_differ has '{}', which is not a known difference from a checkpoint{}",
                  name, suggestion(name, std::vector<std::string>(known.begin(), known.end())));
    }
    found.push_back(*difference);
  }
  return found;
}

}  // namespace trainyard::manager
