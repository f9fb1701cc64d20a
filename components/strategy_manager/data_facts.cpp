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
  std::string text;  ///< A description, such as "seed is 1 there and 2 here".
};

/// Converts a value to text. Replaces invalid UTF-8, which names of classes may contain.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::uint64_t train_samples(const DatasetInfo& data) {
  const auto train = std::ranges::find(data.splits, kTrainSplit, &SplitInfo::name);
  return train == data.splits.end() ? 0 : train->samples;
}

/// Returns the consequence that the user accepts by permitting a difference.
const char* consequence_of(Difference kind) {
  if (kind == Difference::kVocabulary) return "so the model's outputs stand for other texts than in its training";
  if (kind == Difference::kLearnt) return "so the model sees other values than in its training";
  return "so samples of the epoch may come twice or not at all";
}

/// The facts about data that are compared.
struct Facts {
  std::uint64_t seed = 0;
  std::string sampling;
  std::string dataset;
  std::uint64_t samples = 0;
  std::uint64_t classes = 0;
  json vocabulary;
  json learnt;
};

Facts facts_of(const DatasetInfo& data) {
  return {.seed = data.seed,
          .sampling = data.sampling,
          .dataset = data.dataset,
          .samples = train_samples(data),
          .classes = data.classes,
          .vocabulary = json::parse(dump(data.vocabulary)),
          .learnt = json::parse(dump(data.learnt))};
}

Facts facts_of(const StateReader& saved) {
  return {.seed = saved.count("seed"),
          .sampling = saved.text("sampling"),
          .dataset = saved.text("dataset"),
          .samples = saved.count("samples"),
          .classes = saved.count("classes"),
          .vocabulary = json::parse(saved.json("vocabulary")),
          .learnt = json::parse(saved.json("learnt"))};
}

/// Collects the differences between two descriptions of data. `first` and `second` are words for their origins, such as
/// "there" and "here".
class Comparison {
 public:
  Comparison(const char* first, const char* second) : first_(first), second_(second) {}

  template <class T>
  void compare(Difference kind, const char* name, const T& a, const T& b) {
    if (a != b) found_.push_back({kind, fmt::format("{} is {} {} and {} {}", name, a, first_, b, second_)});
  }

  /// Records the first difference between two vocabularies, from which the user can see which of them is wrong.
  void compare_vocabularies(const json& a, const json& b) {
    if (a == b) return;
    std::size_t first = 0;
    while (first < a.size() && first < b.size() && a[first] == b[first]) ++first;
    const auto text = [first](const json& list) { return first < list.size() ? dump(list[first]) : "nothing"; };
    found_.push_back({Difference::kVocabulary,
                      fmt::format("the vocabulary has {} entries {} and {} {}, and number {} is {} {} and {} {}",
                                  a.size(), first_, b.size(), second_, first, text(a), first_, text(b), second_)});
  }

  void compare_learnt(const json& a, const json& b) {
    if (a == b) return;
    found_.push_back({Difference::kLearnt,
                      fmt::format("the dataset has learnt {} {} and {} {}", dump(a), first_, dump(b), second_)});
  }

  /// Returns all differences. Compares the facts about the order of the samples only if `order` is true.
  std::vector<Found> of(const Facts& a, const Facts& b, bool order) {
    if (order) {
      compare(Difference::kSeed, "the seed", a.seed, b.seed);
      compare(Difference::kSampling, "sampling", a.sampling, b.sampling);
      compare(Difference::kDataset, "the dataset", a.dataset, b.dataset);
      compare(Difference::kDataset, "the number of training samples", a.samples, b.samples);
    }
    compare(Difference::kVocabulary, "the number of classes", a.classes, b.classes);
    compare_vocabularies(a.vocabulary, b.vocabulary);
    compare_learnt(a.learnt, b.learnt);
    return std::move(found_);
  }

 private:
  const char* first_;
  const char* second_;
  std::vector<Found> found_;
};

/// Throws unless the user permits all differences. `what` is the beginning of the error text.
void refuse(const std::vector<Found>& differences, const char* what, const RunSettings& settings,
            const std::function<void(const std::string&)>& accepted) {
  std::vector<std::string> refused, names;
  for (const Found& found : differences) {
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
              "{}: {}; allowed: the same data, or may_differ = [{}] in [run], which accepts the difference", what,
              fmt::join(refused, "; "), fmt::join(names, ", "));
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
  refuse(Comparison("there", "here").of(facts_of(saved), facts_of(data), settings.mode == RunMode::kFit),
         "the data of this run is not that of the checkpoint it resumes", settings, accepted);
}

bool is_same_data(const DatasetInfo& a, const DatasetInfo& b) {
  return Comparison("", "").of(facts_of(a), facts_of(b), /*order=*/true).empty();
}

void check_same_data_on_ranks(const DatasetInfo& first, const DatasetInfo& other, const RunSettings& settings,
                              const std::function<void(const std::string&)>& accepted) {
  refuse(Comparison("on one rank", "on another").of(facts_of(first), facts_of(other), /*order=*/true),
         "the ranks do not have the same data", settings, accepted);
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
