// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/accelerator_rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "launch/plan/device_request.h"
#include "launch/plan/plugin_choice.h"

namespace trainyard::launch {
namespace {

/// The values that are compared with the rules.
struct Question {
  const Given& given;
  PluginChoice choice;
  AcceleratorReport report;

  const AcceleratorTraits& rules() const { return report.traits; }
  std::string label() const {
    return rules().rules.empty() ? choice.name : fmt::format("{} ({})", choice.name, rules().rules);
  }
};

using Refusal = std::optional<Error>;

/// Returns a value as it was written in the file. A text is shown without quotation marks, because fit_kind() has
/// converted values of `devices` to text.
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
  if (question.report.available()) return {};
  const std::string& problem = question.report.problem;
  return error_at(question.choice.place.value.origin, question.choice.place.key,
                  fmt::format("the accelerator {} is not available on this machine, rule available: {}",
                              question.label(), problem.empty() ? "it has no devices" : problem));
}

Refusal check_devices(const Question& question) {
  const auto devices = question.given.find("devices");
  if (devices == question.given.end()) return {};
  const DeviceRequest request = read_device_request(devices->second.value);
  if (request.count == 0) return {};  // Other checks refuse invalid values.
  const std::vector<int>& counts = question.rules().device_counts;
  if (!counts.empty() && std::ranges::find(counts, request.count) == counts.end()) {
    return refuse(question, devices->second, "device_counts", fmt::format("{}", fmt::join(counts, ", ")));
  }
  const int most = question.report.devices;
  const bool enough = request.count <= most || question.rules().shared_devices;
  const bool missing = std::ranges::any_of(request.indices, [most](auto index) { return index < 0 || index >= most; });
  if (enough && !missing) return {};
  return refuse(question, devices->second, "devices",
                fmt::format("this machine has {}{}", most, request.indices.empty() ? "" : ", counted from 0"));
}

/// Returns the full name of a precision. The short names are described in docs/precision.md; tensors/precision.cpp
/// contains them, too.
std::string full_precision(const std::string& name) {
  static const std::map<std::string, std::string> kShort{
      {"64", "64-true"}, {"32", "32-true"}, {"bf16", "bf16-mixed"}, {"16", "16-mixed"}};
  const auto found = kShort.find(name);
  return found == kShort.end() ? name : found->second;
}

Refusal check_precision(const Question& question) {
  const auto given = question.given.find("precision");
  if (given == question.given.end()) return {};
  const auto* precision = given->second.value.get_if<std::string>();
  if (precision == nullptr) return {};
  const std::vector<std::string>& precisions = question.rules().precisions;
  if (std::ranges::find(precisions, full_precision(*precision)) != precisions.end()) return {};
  return refuse(question, given->second, "precisions", fmt::format("{}", fmt::join(precisions, ", ")));
}

Refusal check_clipping(const Question& question) {
  if (question.rules().gradient_clipping) return {};
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

/// Adds the default of a parameter that the file does not give, because the default may break a rule, too. Its position
/// for errors is that of the component.
void add_default(Given& given, const std::string& name, const Draft& draft) {
  const auto declared = std::ranges::find(draft.info->parameters, name, &ParameterInfo::name);
  if (declared == draft.info->parameters.end() || given.contains(name)) return;
  const auto value = nlohmann::json::parse(declared->default_json, nullptr, /*allow_exceptions=*/false);
  if (!value.is_string()) return;
  given[name] = {Value{value.get<std::string>(), draft.spec->origin}, draft.spec->key + ".params." + name};
}

AcceleratorReport report_of(const PluginChoice& choice, Catalogue& catalogue, bool anew) {
  try {
    return catalogue.traits<AcceleratorReport>(choice.name, choice.parameters, anew);
  } catch (const Error& error) {
    throw error_at(choice.place.value.origin, choice.place.key, error.what(), error.code());
  }
}

/// Warns if there are more ranks than devices, so that ranks share devices.
void warn_of_sharing(const Draft& draft, const Question& question, std::vector<std::string>& warnings) {
  // If there are several launches on a machine, each may see only its own devices.
  if (draft.launches > 1) return;
  const std::uint32_t ranks = draft.plan.ranks_of_host;
  if (ranks <= static_cast<std::uint32_t>(question.report.devices)) return;
  warnings.push_back(fmt::format("{} ranks share the {} device{} of the accelerator {}; they slow each other down",
                                 ranks, question.report.devices, question.report.devices == 1 ? "" : "s",
                                 question.label()));
}

}  // namespace

void check_accelerator_rules(const Draft& draft, Catalogue& catalogue, std::vector<std::string>& warnings) {
  const PluginChoice choice = plugin_choice(draft, AcceleratorReport::kPluginKind);
  if (choice.name.empty()) return;
  Given all = draft.given;
  add_default(all, "precision", draft);
  Question question{all, choice, report_of(choice, catalogue, /*anew=*/false)};
  if (broken_rule(question)) {
    question.report = report_of(choice, catalogue, /*anew=*/true);
    if (Refusal refusal = broken_rule(question)) throw *refusal;
  }
  warn_of_sharing(draft, question, warnings);
}

}  // namespace trainyard::launch
