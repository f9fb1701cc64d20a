// SPDX-License-Identifier: Apache-2.0
#include "environments/kubernetes/pod_names.h"

#include <fmt/format.h>

namespace trainyard::kubernetes {

std::vector<std::string> pod_names(const std::string& first, const std::string& own_name, std::uint32_t number,
                                   std::uint32_t count) {
  const std::size_t dot = std::min(first.find('.'), first.size());
  const std::string label = first.substr(0, dot), domain = first.substr(dot);
  if (!label.ends_with("-0")) return {};
  const std::string stem = label.substr(0, label.size() - 1);
  if (own_name.substr(0, own_name.find('.')) != fmt::format("{}{}", stem, number)) return {};
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}{}", stem, i, domain));
  return names;
}

}  // namespace trainyard::kubernetes
