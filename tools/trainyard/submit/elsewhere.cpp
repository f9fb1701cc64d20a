// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/elsewhere.h"

#include <algorithm>

namespace trainyard::tools::submit {
namespace {

/// The number of devices that every accelerator reports, which is more than any host has.
constexpr int kDevices = 64;

}  // namespace

launch::Catalogue::Answer Elsewhere::ask(std::string_view kind, std::string_view name, const std::string& parameters,
                                         bool anew) {
  Answer answer = here_.ask(kind, name, parameters, anew);
  auto* report = std::get_if<AcceleratorReport>(&answer.traits.of_kind);
  if (report == nullptr) return answer;
  // An accelerator whose devices this machine lacks is never chosen automatically.
  if (!report->available()) report->traits.auto_priority = 0;
  report->devices = std::max(report->devices, kDevices);
  report->problem.clear();
  return answer;
}

}  // namespace trainyard::tools::submit
