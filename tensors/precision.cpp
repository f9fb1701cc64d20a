// SPDX-License-Identifier: Apache-2.0
#include "tensors/precision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "messages/error.h"

namespace trainyard {
namespace {

const std::array<Precision, 6>& all() {
  static const std::array<Precision, 6> known{{{"64-true", at::kDouble, at::kDouble, false},
                                               {"32-true", at::kFloat, at::kFloat, false},
                                               {"bf16-mixed", at::kFloat, at::kBFloat16, false},
                                               {"16-mixed", at::kFloat, at::kHalf, true},
                                               {"bf16-true", at::kBFloat16, at::kBFloat16, false},
                                               {"16-true", at::kHalf, at::kHalf, false}}};
  return known;
}

constexpr std::array<std::pair<const char*, const char*>, 4> kAliases{
    {{"64", "64-true"}, {"32", "32-true"}, {"bf16", "bf16-mixed"}, {"16", "16-mixed"}}};

std::vector<std::string> names(bool with_aliases) {
  std::vector<std::string> list;
  for (const Precision& one : all()) list.push_back(one.name);
  if (with_aliases) {
    for (const auto& [alias, name] : kAliases) list.emplace_back(alias);
  }
  return list;
}

}  // namespace

const std::vector<std::string>& precision_names() {
  static const std::vector<std::string> list = names(/*with_aliases=*/false);
  return list;
}

const std::vector<std::string>& precision_names_and_aliases() {
  static const std::vector<std::string> list = names(/*with_aliases=*/true);
  return list;
}

Precision parse_precision(const std::string& name) {
  const auto* alias =
      std::find_if(kAliases.begin(), kAliases.end(), [&](const auto& one) { return one.first == name; });
  const std::string wanted = alias == kAliases.end() ? name : alias->second;
  for (const Precision& one : all()) {
    if (one.name == wanted) return one;
  }
  throw Error(Code::kInvalidArgument, "precision '{}' is not known; known: {}", name,
              fmt::join(precision_names_and_aliases(), ", "));
}

at::Tensor with_precision(const at::Tensor& tensor, const Precision& precision) {
  const bool fits = !tensor.is_floating_point() || tensor.scalar_type() == precision.parameters;
  return fits ? tensor : tensor.to(precision.parameters);
}

}  // namespace trainyard
