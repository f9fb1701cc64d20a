// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "visitors/run_observer.h"

namespace trainyard::tools {

/// What the first line of `trainyard top` says about the progress of the training.
struct TopHeadline {
  std::string run;
  std::optional<std::uint64_t> step;
  std::uint64_t total_steps = 0;  ///< 0 if it is unknown.
  std::optional<double> loss;
  std::optional<double> units_per_s;
  std::string unit;  ///< "sample" or "token".
};

/// The orders in which rows can be shown.
enum class TopSort { kPlan, kBusy, kCpu, kMemory, kRate };

/// What the user has chosen with keys.
struct TopChoice {
  TopSort sort = TopSort::kPlan;
  bool processes = false;  ///< Show processes instead of components.
};

/// The text of one picture of `trainyard top`.
struct TopView {
  std::vector<std::string> head;  ///< The run and its bottleneck.
  std::string columns;            ///< The heading of the table.
  std::vector<std::string> rows;  ///< One line for each component or process.
};

/// Makes the text. If `width` is not 0, no line has more characters: columns for which there is no room are left out,
/// the least important first, and long names are cut. Control characters in names become '?'.
TopView make_top_view(const TopHeadline& headline, const visitors::Observation& observation, const TopChoice& choice,
                      std::size_t width);

/// Returns the next order, for the key `s`.
TopSort next_sort(TopSort sort, bool processes);
/// Returns the name of an order: "plan", "busy", ...
const char* name_of_sort(TopSort sort);

}  // namespace trainyard::tools
