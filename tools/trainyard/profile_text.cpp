// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/profile_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "messages/printable.h"
#include "tools/trainyard/quantity_text.h"
#include "tools/trainyard/table.h"

namespace trainyard::tools {
namespace {

using nlohmann::ordered_json;
using timeline::ComponentProfile;
using timeline::Profile;
using timeline::ProfilePart;
using timeline::StepWindow;

/// Parts of a component's time with a smaller share than this are shown together as one row.
constexpr double kSmallestShare = 0.002;
/// The largest number of rows; --json prints all of them.
constexpr std::size_t kMostHops = 12;
constexpr std::size_t kMostOperations = 25;

std::string per_step(std::int64_t ns, const StepWindow& window) {
  return fmt::format("{:>9}", seconds_text(static_cast<double>(ns) * 1e-9 / static_cast<double>(window.steps())));
}

double share_of(std::int64_t ns, const StepWindow& window) {
  return static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(window.end_ns - window.begin_ns, 1));
}

std::string share_text(double share) { return fmt::format("{:>5.1f}%", share * 100); }

/// Adds one row for each part of a component's time. Only the first row contains the name of the component.
void add_rows(Table& table, const ComponentProfile& component, const StepWindow& window) {
  std::string name = component.component;
  const auto add = [&](const std::string& what, std::int64_t ns) {
    table.add({std::exchange(name, ""), per_step(ns, window), share_text(share_of(ns, window)), what});
  };
  std::int64_t rest = 0;
  for (const ProfilePart& part : component.parts) {
    if (share_of(part.ns, window) < kSmallestShare) {
      rest += part.ns;
    } else {
      add(part.what, part.ns);
    }
  }
  if (rest > 0) add("the rest", rest);
  if (share_of(component.idle_ns, window) >= kSmallestShare) add("idle", component.idle_ns);
  const std::uint32_t threads = component.number_of_own_threads;
  const std::string where = threads == 1 ? "on its own thread" : fmt::format("on each of its {} own threads", threads);
  for (const ProfilePart& part : component.own_threads) add(fmt::format("{}, {}", part.what, where), part.ns);
}

std::string heading_of(const ProfileReport& report) {
  const StepWindow& window = report.time.window;
  const double seconds = static_cast<double>(window.end_ns - window.begin_ns) * 1e-9;
  return fmt::format("{}: steps {} to {}, {} per step\n", printable_line(report.run), window.first, window.last,
                     seconds_text(seconds / static_cast<double>(window.steps())));
}

Table components_of(const Profile& profile) {
  Table table({"COMPONENT", " PER STEP", " SHARE", "WHAT"});
  for (const ComponentProfile& component : profile.components) add_rows(table, component, profile.window);
  return table;
}

Table hops_of(const Profile& profile) {
  Table table({"MESSAGE", "FROM", "TO", "PER STEP", "     MEAN", "  LONGEST"});
  for (std::size_t i = 0; i < std::min(profile.hops.size(), kMostHops); ++i) {
    const timeline::HopProfile& hop = profile.hops[i];
    const double count = static_cast<double>(hop.count) / static_cast<double>(profile.window.steps());
    table.add({hop.type, hop.from, hop.to, fmt::format("{:>8.3g}", count),
               fmt::format("{:>9}", seconds_text(static_cast<double>(hop.mean_ns) * 1e-9)),
               fmt::format("{:>9}", seconds_text(static_cast<double>(hop.max_ns) * 1e-9))});
  }
  return table;
}

Table operations_of(const Profile& profile) {
  Table table({" PER STEP", " SHARE", "CALLS PER STEP", "OPERATION"});
  for (std::size_t i = 0; i < std::min(profile.operations.size(), kMostOperations); ++i) {
    const timeline::OperationProfile& operation = profile.operations[i];
    const double count = static_cast<double>(operation.count) / static_cast<double>(profile.window.steps());
    table.add({per_step(operation.self_ns, profile.window), share_text(share_of(operation.self_ns, profile.window)),
               fmt::format("{:>14.3g}", count), operation.name});
  }
  return table;
}

ordered_json json_of(const std::vector<ProfilePart>& parts) {
  ordered_json list = ordered_json::array();
  for (const ProfilePart& part : parts) {
    list.push_back({{"what", part.what}, {"kind", name_of(part.kind)}, {"ns", part.ns}, {"count", part.count}});
  }
  return list;
}

ordered_json json_of(const StepWindow& window) {
  return {{"first_step", window.first}, {"last_step", window.last}, {"ns", window.end_ns - window.begin_ns}};
}

}  // namespace

std::string text_of(const ProfileReport& report, bool bold, std::size_t width) {
  std::string text = heading_of(report) + components_of(report.time).text(bold, width);
  if (!report.time.hops.empty()) text += "\n" + hops_of(report.time).text(bold, width);
  if (!report.operations) return text;
  if (report.operations->operations.empty()) return text + "\nNo operation of LibTorch was recorded.\n";
  return text +
         fmt::format("\nLibTorch operations in steps {} to {} (times exclude nested operations)\n",
                     report.operations->window.first, report.operations->window.last) +
         operations_of(*report.operations).text(bold, width);
}

ordered_json json_of(const ProfileReport& report) {
  ordered_json all = {{"run", report.run}};
  all.update(json_of(report.time.window));
  all["components"] = ordered_json::array();
  for (const ComponentProfile& component : report.time.components) {
    all["components"].push_back({{"component", component.component},
                                 {"parts", json_of(component.parts)},
                                 {"idle_ns", component.idle_ns},
                                 {"own_threads", component.number_of_own_threads},
                                 {"own_parts", json_of(component.own_threads)}});
  }
  all["hops"] = ordered_json::array();
  for (const timeline::HopProfile& hop : report.time.hops) {
    all["hops"].push_back({{"type", hop.type},
                           {"from", hop.from},
                           {"to", hop.to},
                           {"count", hop.count},
                           {"mean_ns", hop.mean_ns},
                           {"max_ns", hop.max_ns}});
  }
  all["operations"] = nullptr;
  if (!report.operations) return all;
  all["operations"] = json_of(report.operations->window);
  all["operations"]["list"] = ordered_json::array();
  for (const timeline::OperationProfile& operation : report.operations->operations) {
    all["operations"]["list"].push_back({{"name", operation.name},
                                         {"count", operation.count},
                                         {"self_ns", operation.self_ns},
                                         {"total_ns", operation.total_ns}});
  }
  return all;
}

}  // namespace trainyard::tools
