// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/accelerator_rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "launch/plan/device_request.h"
#include "launch/plan/plugin_choice.h"

namespace trainyard::launch {
namespace {

constexpr const char* kAccelerator = "accelerator";
using Given = std::map<std::string, GivenParameter>;
using Facts = Catalogue::Facts;

/// What the rules are checked against.
struct Question {
  const Given& given;
  PluginChoice choice;
  Facts facts;

  std::string label() const {
    const auto rules = facts.find("rules");
    return rules == facts.end() ? choice.name : fmt::format("{} ({})", choice.name, rules->second);
  }
  /// Null if the accelerator says nothing about it; then everything is allowed.
  const std::string* fact(const std::string& name) const {
    const auto found = facts.find(name);
    return found == facts.end() ? nullptr : &found->second;
  }
};

using Refusal = std::optional<Error>;

/// The request as it was written, because a request for devices has become text on its way here.
std::string shown(const Value& value) {
  const auto* text = value.get_if<std::string>();
  return text == nullptr ? to_text(value) : *text;
}

Refusal refuse(const Question& question, const GivenParameter& value, const std::string& rule,
               const std::string& allowed) {
  return error_at(value.value.origin, value.key,
                  fmt::format("{} is not allowed with the accelerator {}, rule {}: {}", shown(value.value),
                              question.label(), rule, allowed));
}

Refusal check_available(const Question& question) {
  const std::string* available = question.fact("available");
  if (available == nullptr || *available == "true") return {};
  const std::string* problem = question.fact("problem");
  return error_at(question.choice.place.value.origin, question.choice.place.key,
                  fmt::format("the accelerator {} is not available on this machine, rule available: {}",
                              question.label(), problem == nullptr ? "it has no devices" : *problem));
}

/// True if a list such as "1, 2, 4" has the number.
bool lists_number(const std::string& list, std::int64_t number) {
  std::istringstream numbers(list);
  for (std::string one; std::getline(numbers, one, ',');) {
    if (std::stoll(one) == number) return true;
  }
  return false;
}

Refusal check_devices(const Question& question) {
  const auto devices = question.given.find("devices");
  if (devices == question.given.end()) return {};
  const DeviceRequest request = read_device_request(devices->second.value);
  if (request.count == 0 || request.automatic) return {};  // Words that make no sense are refused elsewhere.
  const std::string* counts = question.fact("device_counts");
  if (counts != nullptr && *counts != "any" && !lists_number(*counts, request.count)) {
    return refuse(question, devices->second, "device_counts", *counts);
  }
  const std::string* there = question.fact("devices");
  if (there == nullptr) return {};
  const std::int64_t most = std::stoll(*there);
  const std::string* shared = question.fact("shared_devices");
  const bool enough = request.count <= most || (shared != nullptr && *shared == "true");
  const bool missing = std::ranges::any_of(request.indices, [most](auto index) { return index < 0 || index >= most; });
  if (enough && !missing) return {};
  return refuse(question, devices->second, "devices",
                fmt::format("this machine has {}{}", most, request.indices.empty() ? "" : ", counted from 0"));
}

/// The short names of docs/precision.md. tensors/precision.cpp has the same ones for the hosts.
std::string full_precision(const std::string& name) {
  static const std::map<std::string, std::string> kShort{
      {"64", "64-true"}, {"32", "32-true"}, {"bf16", "bf16-mixed"}, {"16", "16-mixed"}};
  const auto found = kShort.find(name);
  return found == kShort.end() ? name : found->second;
}

Refusal check_precision(const Question& question) {
  const std::string* precisions = question.fact("precisions");
  const auto given = question.given.find("precision");
  if (precisions == nullptr || given == question.given.end()) return {};
  const auto* precision = given->second.value.get_if<std::string>();
  if (precision == nullptr) return {};
  if ((", " + *precisions + ",").find(" " + full_precision(*precision) + ",") != std::string::npos) return {};
  return refuse(question, given->second, "precisions", *precisions);
}

Refusal check_clipping(const Question& question) {
  const std::string* clipping = question.fact("gradient_clipping");
  if (clipping == nullptr || *clipping == "true") return {};
  for (const char* name : {"clip_norm", "clip_value"}) {
    const auto given = question.given.find(name);
    if (given == question.given.end() || to_json(given->second.value) == 0) continue;
    return refuse(question, given->second, "gradient_clipping", "none, that is 0");
  }
  return {};
}

Refusal broken_rule(const Question& question) {
  for (const auto check : {&check_available, &check_devices, &check_precision, &check_clipping}) {
    if (Refusal refusal = check(question)) return refusal;
  }
  return {};
}

/// An accelerator that cannot be asked, because it is broken or from another build, is not chosen automatically.
Facts facts_or_none(Catalogue& catalogue, const std::string& name) {
  try {
    return catalogue.facts(kAccelerator, name, "{}", /*anew=*/false);
  } catch (const Error&) {
    return {};
  }
}

/// What the component would choose by itself: the available accelerator that ranks highest.
std::string automatic(Catalogue& catalogue) {
  std::string best;
  int best_rank = 0;
  for (const PluginLabel& label : catalogue.list()) {
    if (label.kind != kAccelerator) continue;
    const Facts facts = facts_or_none(catalogue, label.name);
    const auto available = facts.find("available");
    const auto rank = facts.find("auto_rank");
    if (available == facts.end() || available->second != "true" || rank == facts.end()) continue;
    if (std::stoi(rank->second) <= best_rank) continue;
    best = label.name;
    best_rank = std::stoi(rank->second);
  }
  return best;
}

/// What the file leaves out may break a rule as well; its place is that of the component.
void add_default(Given& given, const std::string& name, const Draft& draft) {
  const auto declared = std::ranges::find(draft.info->parameters, name, &ParameterInfo::name);
  if (declared == draft.info->parameters.end() || given.contains(name)) return;
  const auto value = nlohmann::json::parse(declared->default_json, nullptr, /*allow_exceptions=*/false);
  if (!value.is_string()) return;
  given[name] = {Value{value.get<std::string>(), draft.spec->origin}, draft.spec->key + ".params." + name};
}

Facts facts_of(const PluginChoice& choice, Catalogue& catalogue, bool anew) {
  try {
    return catalogue.facts(kAccelerator, choice.name, choice.parameters, anew);
  } catch (const Error& error) {
    throw error_at(choice.place.value.origin, choice.place.key, error.what(), error.code());
  }
}

}  // namespace

void check_accelerator_rules(const Draft& draft, const Given& given, Catalogue& catalogue) {
  const auto declared = std::ranges::find_if(draft.info->parameters, [](const ParameterInfo& info) {
    return info.kind == ValueKind::kPlugin && info.rules.plugin_kind == kAccelerator;
  });
  if (declared == draft.info->parameters.end()) return;
  Given all = given;
  add_default(all, "precision", draft);
  PluginChoice choice = plugin_choice(draft, *declared, given);
  if (choice.name == "auto") choice.name = automatic(catalogue);
  if (choice.name.empty()) return;
  if (!broken_rule({all, choice, facts_of(choice, catalogue, /*anew=*/false)})) return;
  if (Refusal refusal = broken_rule({all, choice, facts_of(choice, catalogue, /*anew=*/true)})) throw *refusal;
}

}  // namespace trainyard::launch
