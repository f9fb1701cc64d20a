// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "visitors/run_observer.h"

namespace trainyard::tools {

/// The progress of training, for the first line of `trainyard top`.
struct TopHeadline {
  std::string run;
  std::optional<std::uint64_t> step;
  std::uint64_t total_steps = 0;  ///< The number of steps that the run will do; 0 if it is unknown.
  std::optional<double> loss;
  std::optional<double> units_per_s;
  std::string unit;  ///< The unit of the throughput: "sample" or "token".
};

/// The orders in which `trainyard top` can show its rows: the order of the plan, or the highest value of a column
/// first.
enum class TopSort { kPlan, kBusy, kCpu, kMemory, kRate };

/// The settings of `trainyard top` that the user can change with keys.
struct TopChoice {
  TopSort sort = TopSort::kPlan;
  bool processes = false;  ///< True to show processes instead of components.
};

/// The text that `trainyard top` shows at one moment.
struct TopView {
  std::vector<std::string> head;  ///< Lines about the run and the component that holds it up (the bottleneck).
  std::string columns;            ///< The heading of the table.
  std::vector<std::string> rows;  ///< One line for each component or process.
};

/// Makes the text that `trainyard top` shows. If `width` is not 0, no line has more than `width` characters: if there
/// is too little room, the least important columns are left out, and long names are cut. Control characters in names
/// are replaced with '?'.
TopView make_top_view(const TopHeadline& headline, const visitors::Observation& observation, const TopChoice& choice,
                      std::size_t width);

/// Returns the order to which the key `s` switches from `sort`. `processes` is true if the table shows processes, which
/// have fewer orders.
TopSort next_sort(TopSort sort, bool processes);
/// Returns the name of an order, such as "plan" or "busy".
const char* name_of_sort(TopSort sort);

}  // namespace trainyard::tools
