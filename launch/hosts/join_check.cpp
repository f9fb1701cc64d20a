// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/join_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "launch/hosts/processor.h"
#include "messages/printable.h"
#include "messages/schema.h"

namespace trainyard::launch {
namespace {

/// The difference between two clocks, in seconds, above which there is a warning. Clocks that are synchronised over a
/// network differ by far less.
constexpr double kLargestClockDifference = 10;

std::string content_of(const Plan& plan) {
  std::string all;
  for (const SourceFile& source : plan.sources) all += source.text + '\0';
  return fmt::format("{:016x}", fingerprint(all));
}

std::string words_as_given(const std::vector<std::string>& words) {
  if (words.empty()) return "none";
  return printable_line(fmt::format("{}", fmt::join(words, " "))).substr(0, 300);
}

/// Returns an objection about the first plugin of host 0 that the other host does not have in the same version and at
/// the same path. Additional plugins of the other host are allowed.
std::string missing_plugin(const Join& own, const Join& other) {
  const std::set<std::string> there(other.plugins.begin(), other.plugins.end());
  const auto missing =
      std::ranges::find_if(own.plugins, [&](const std::string& line) { return !there.contains(line); });
  return missing == own.plugins.end() ? "" : *missing;
}

/// Returns an objection about the first value that the planners of the two hosts have chosen differently.
std::string other_choice(const Join& own, const Join& other) {
  if (own.choices == other.choices) return "";
  const auto [here, there] = std::ranges::mismatch(own.choices, other.choices);
  const auto text = [](const auto& at, const Join& join) {
    return at == join.choices.end() ? "nothing" : printable_line(*at).substr(0, 300);
  };
  return fmt::format(
      "has other devices: the planner has chosen {} there, and {} on host 0; name the value in the launch file, or use "
      "equal hosts",
      text(there, other), text(here, own));
}

}  // namespace

Join describe_launch(const Plan& plan, const std::vector<PluginLabel>& plugins) {
  Join join{.hosts = plan.hosts,
            .version = std::string(host_abi_tag()),
            .file = plan.file,
            .content = content_of(plan),
            .arguments = plan.arguments,
            .processor = describe_processor()};
  std::set<std::string> lines;
  for (const PluginLabel& label : plugins) {
    lines.insert(fmt::format("{} '{}' {} ({})", label.kind, label.name, label.version, label.abi_tag));
  }
  // The plan contains the paths of these libraries, so the paths must be the same on all hosts.
  for (const ComponentPlan& component : plan.components) {
    if (!component.library.empty())
      lines.insert(fmt::format("component '{}' in {}", component.plugin, component.library));
  }
  join.plugins.assign(lines.begin(), lines.end());
  for (const Choice& choice : plan.choices) join.choices.push_back(fmt::format("{} = {}", choice.key, choice.chosen));
  return join;
}

std::string objection_to(const Join& own, const Join& other) {
  if (other.protocol != own.protocol) {
    return fmt::format(
        "speaks version {} of the protocol between hosts, and host 0 speaks version {}; install the same "
        "version of Trainyard on all hosts",
        other.protocol, own.protocol);
  }
  if (!abi_matches(other.version, own.version)) {
    return fmt::format("has another build of Trainyard: '{}', and host 0 has '{}'; install the same on all hosts",
                       printable_line(other.version), own.version);
  }
  if (other.hosts != own.hosts) {
    return fmt::format("counts {} hosts, and host 0 counts {}", other.hosts, own.hosts);
  }
  if (other.host >= own.hosts) {
    return fmt::format("is not one of the {} hosts of the run, which have the numbers 0 to {}", own.hosts,
                       own.hosts - 1);
  }
  if (other.host == 0) return "has the number 0, which is that of the host that it has reached";
  if (other.arguments != own.arguments) {
    return fmt::format("was started with other arguments: {}; those of host 0: {}", words_as_given(other.arguments),
                       words_as_given(own.arguments));
  }
  if (other.content != own.content) {
    return fmt::format("has another launch file: the content of {} there differs from that of {} on host 0",
                       printable_line(other.file), own.file);
  }
  if (const std::string plugin = missing_plugin(own, other); !plugin.empty()) {
    return fmt::format("does not have the same plugins: it has no {}", plugin);
  }
  return other_choice(own, other);
}

std::vector<std::string> remarks_on(const Join& own, const Join& other, std::int64_t clock_ns) {
  std::vector<std::string> remarks;
  if (other.processor != own.processor) {
    remarks.push_back(
        fmt::format("has another processor, so the last bits of results can differ from those of one host: {}; that of "
                    "host 0: {}",
                    printable_line(other.processor.substr(0, 300)), own.processor));
  }
  // The difference is computed with doubles, so that it cannot overflow, whatever value the other host has sent.
  const double behind = (static_cast<double>(clock_ns) - static_cast<double>(other.clock_ns)) / 1e9;
  if (std::abs(behind) > kLargestClockDifference) {
    remarks.push_back(
        fmt::format("has a clock that is {:.0f} s {} that of host 0, so times in the log and in timelines do not "
                    "fit together",
                    std::abs(behind), behind > 0 ? "behind" : "ahead of"));
  }
  return remarks;
}

std::string describe_joined(const Join& join) {
  return fmt::format("host {} ({}, {})", join.host, printable_line(join.host_name.substr(0, 255)),
                     printable_line(join.address.substr(0, 64)));
}

}  // namespace trainyard::launch
