// SPDX-License-Identifier: Apache-2.0
#include "accelerators/accelerator.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/traits/plugin_traits.h"
#include "messages/error.h"

namespace trainyard {
namespace {

constexpr std::string_view kAllowedRequests = "allowed: a count ('2') or a list ('[0, 3]')";

/// Returns `count` device numbers: all existing devices in order, and then the same devices again as often as
/// necessary.
std::vector<int> first_devices(int count, int available) {
  std::vector<int> indices(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) indices[static_cast<std::size_t>(i)] = i % std::max(available, 1);
  return indices;
}

int parse_number(std::string_view text, const std::string& request, const std::string& where) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Error(Code::kInvalidArgument, "{}: devices = '{}': '{}' is not a number; {}", where, request, text,
                kAllowedRequests);
  }
  return number;
}

/// Returns the numbers in a list such as "[0, 3]".
std::vector<int> parse_list(std::string_view list, const std::string& request, const std::string& where) {
  list.remove_prefix(1);
  if (list.empty() || list.back() != ']') {
    throw Error(Code::kInvalidArgument, "{}: devices = '{}' has no closing ']'; {}", where, request, kAllowedRequests);
  }
  list.remove_suffix(1);
  std::vector<int> indices;
  while (true) {
    const auto comma = list.find(',');
    indices.push_back(parse_number(list.substr(0, comma), request, where));
    if (comma == std::string_view::npos) return indices;
    list.remove_prefix(comma + 1);
  }
}

void check_indices(const std::vector<int>& indices, int available, const std::string& request,
                   const std::string& where) {
  for (const int index : indices) {
    if (index < 0 || index >= available) {
      throw Error(Code::kNotFound, "{}: devices = '{}': there is no device {}; there are {}, counted from 0", where,
                  request, index, available);
    }
    if (std::count(indices.begin(), indices.end(), index) > 1) {
      throw Error(Code::kInvalidArgument, "{}: devices = '{}' names device {} twice; each may be named once", where,
                  request, index);
    }
  }
}

}  // namespace

std::vector<int> Accelerator::parse_devices(const std::string& request) const {
  const int available = device_count();
  if (request.starts_with('[')) {
    std::vector<int> indices = parse_list(request, request, where());
    check_indices(indices, available, request, where());
    return indices;
  }
  const int count = parse_number(request, request, where());
  if (count < 1) {
    throw Error(Code::kInvalidArgument, "{}: devices = '{}' is not allowed; {}", where(), request, kAllowedRequests);
  }
  if (count > available && !traits().shared_devices) {
    throw Error(Code::kNotFound, "{}: devices = '{}' asks for {} devices; there are {}", where(), request, count,
                available);
  }
  return first_devices(count, available);
}

std::unique_ptr<ClaimedDevice> Accelerator::claim(int index) const {
  const FoundDevices found = find_devices();
  if (index < 0 || index >= found.count) {
    throw Error(Code::kNotFound, "{}: there is no device {}; there are {}, counted from 0{}{}", where(), index,
                found.count, found.problem.empty() ? "" : "; ", found.problem);
  }
  return open(index);
}

core::PluginTraits Accelerator::declared_traits() const {
  const FoundDevices found = find_devices();
  return {AcceleratorReport{.devices = found.count, .problem = found.problem, .traits = traits()}};
}

}  // namespace trainyard
