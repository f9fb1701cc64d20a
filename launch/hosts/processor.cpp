// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace trainyard::launch {
namespace {

/// The instruction sets for which there are kernels, as /proc/cpuinfo names them on x86 and Arm.
constexpr std::array<std::string_view, 12> kInstructionSets = {"avx",      "avx2",        "fma",         "avx512f",
                                                               "avx512bw", "avx512_vnni", "avx512_bf16", "amx_bf16",
                                                               "asimd",    "sve",         "sve2",        "bf16"};

/// Returns the value of the first line "name: value" of /proc/cpuinfo, or an empty text if there is none.
std::string_view value_of(std::string_view cpuinfo, std::string_view name) {
  for (std::size_t begin = 0; begin < cpuinfo.size();) {
    const std::size_t end = std::min(cpuinfo.find('\n', begin), cpuinfo.size());
    const std::string_view line = cpuinfo.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    std::string_view key = line.substr(0, colon);
    key = key.substr(0, key.find_last_not_of(" \t") + 1);
    if (key == name) return line.substr(colon + 2);
  }
  return {};
}

std::string instruction_sets(std::string_view flags) {
  std::istringstream words{std::string(flags)};
  const std::vector<std::string> given{std::istream_iterator<std::string>(words), {}};
  std::string known;
  for (const std::string_view set : kInstructionSets) {
    if (std::ranges::find(given, set) != given.end()) known += fmt::format(" {}", set);
  }
  return known.empty() ? " no vectors" : known;
}

}  // namespace

std::string describe_processor(std::string_view cpuinfo, std::string_view capability) {
  const std::string_view model = value_of(cpuinfo, "model name"), family = value_of(cpuinfo, "cpu family"),
                         number = value_of(cpuinfo, "model"), flags = value_of(cpuinfo, "flags");
  std::string text = fmt::format("{} (family {}, model {}) with{}", model.empty() ? "unknown" : model,
                                 family.empty() ? "-" : family, number.empty() ? "-" : number,
                                 instruction_sets(flags.empty() ? value_of(cpuinfo, "Features") : flags));
  if (!capability.empty()) text += fmt::format(", ATEN_CPU_CAPABILITY={}", capability);
  return text;
}

std::string describe_processor() {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream content;
  content << file.rdbuf();
  const char* capability = std::getenv("ATEN_CPU_CAPABILITY");
  return describe_processor(content.str(), capability == nullptr ? "" : capability);
}

}  // namespace trainyard::launch
