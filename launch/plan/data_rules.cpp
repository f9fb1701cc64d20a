// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/data_rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "launch/plan/plugin_choice.h"

namespace trainyard::launch {
namespace {

std::string words_for(TargetKind kind) {
  switch (kind) {
    case TargetKind::kUnknown:
      return "anything";
    case TargetKind::kClass:
      return "a class";
    case TargetKind::kNumbers:
      return "numbers";
    case TargetKind::kTokens:
      return "a token for each token";
  }
  return "nothing";
}

template <class Traits>
Traits traits_of(const PluginChoice& choice, Catalogue& catalogue) {
  try {
    return catalogue.traits<Traits>(choice.name, choice.parameters);
  } catch (const Error& error) {
    throw error_at(choice.place.value.origin, choice.place.key, error.what(), error.code());
  }
}

void check_pair(const PluginChoice& dataset, const PluginChoice& model, Catalogue& catalogue) {
  const std::vector<TargetKind> learns = traits_of<ModelTraits>(model, catalogue).targets;
  const TargetKind target = traits_of<DatasetTraits>(dataset, catalogue).target;
  if (learns.empty() || target == TargetKind::kUnknown || std::ranges::find(learns, target) != learns.end()) return;
  std::vector<std::string> words;
  for (const TargetKind kind : learns) words.push_back(words_for(kind));
  throw error_at(
      model.place.value.origin, model.place.key,
      fmt::format("the model {} learns {}, but the target of the dataset {} ({}) is {}", model.name,
                  fmt::join(words, " or "), dataset.name, to_text(dataset.place.value.origin), words_for(target)));
}

}  // namespace

void check_data(const std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges, Catalogue& catalogue) {
  std::set<std::pair<const ComponentSpec*, const ComponentSpec*>> seen;
  for (const EdgePlan& edge : edges) {
    const Draft &from = drafts[edge.from], &to = drafts[edge.to];
    // Each pair of components is checked only once: all ranks have the same parameters, and there can be several edges
    // between two components.
    if (!seen.emplace(from.spec, to.spec).second) continue;
    const PluginChoice dataset = plugin_choice(from, DatasetTraits::kPluginKind);
    const PluginChoice model = plugin_choice(to, ModelTraits::kPluginKind);
    if (!dataset.name.empty() && !model.name.empty()) check_pair(dataset, model, catalogue);
  }
}

}  // namespace trainyard::launch
