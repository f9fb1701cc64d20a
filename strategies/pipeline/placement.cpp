// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline/placement.h"

#include <algorithm>
#include <limits>
#include <map>

#include "messages/error.h"

namespace trainyard::pipeline {
namespace {

/// The size of the parameters of each stage, and the first stage that uses each parameter.
struct StageParameters {
  std::vector<std::uint64_t> bytes;
  std::map<std::string, std::size_t> first_user;  ///< Indexed by the parameter's name.
};

StageParameters parameters_of(const std::vector<Stage>& stages) {
  StageParameters result;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    result.bytes.push_back(0);
    for (const NamedTensor& named : stages[i].parameters) {
      // A parameter that several stages share counts only for the first of them.
      if (result.first_user.emplace(named.name, i).second) result.bytes.back() += named.tensor.nbytes();
    }
  }
  return result;
}

void check_sharing(const std::vector<Stage>& stages, const StageParameters& parameters, const Placement& placement,
                   const std::string& where) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const NamedTensor& named : stages[i].parameters) {
      const std::size_t first = parameters.first_user.at(named.name);
      const std::size_t one = placement.rank_of_stage(first), other = placement.rank_of_stage(i);
      if (one == other) continue;
      throw Error(Code::kUnsupported,
                  "{}: parameter '{}' belongs to stage '{}' on rank {} and to stage '{}' on rank {}; all stages that "
                  "share a parameter must be on one rank",
                  where, named.name, stages[first].name, one, stages[i].name, other);
    }
  }
}

}  // namespace

std::size_t Placement::rank_of_stage(std::size_t stage) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(stages, stage) - stages.begin()) - 1;
}

/// By dynamic programming: finds, for every `end` and `part`, the best division of the first `end` weights into `part`
/// ranges.
std::vector<std::size_t> cut_evenly(const std::vector<std::uint64_t>& weights, std::size_t parts) {
  const std::size_t count = weights.size();
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::vector<std::uint64_t>> heaviest(parts + 1, std::vector<std::uint64_t>(count + 1, kNever));
  std::vector<std::vector<std::size_t>> begins(parts + 1, std::vector<std::size_t>(count + 1));
  heaviest[0][0] = 0;
  for (std::size_t part = 1; part <= parts; ++part) {
    for (std::size_t end = part; end <= count; ++end) {
      std::uint64_t last = 0;  // The sum of the weights in the last range, which is [begin, end).
      for (std::size_t begin = end; begin-- >= part;) {
        last += weights[begin];
        const std::uint64_t whole = std::max(heaviest[part - 1][begin], last);
        if (whole < heaviest[part][end]) {
          heaviest[part][end] = whole;
          begins[part][end] = begin;
        }
      }
    }
  }
  std::vector<std::size_t> bounds(parts + 1, count);
  for (std::size_t part = parts; part-- > 0;) bounds[part] = begins[part + 1][bounds[part + 1]];
  return bounds;
}

Placement place_stages(const std::vector<Stage>& stages, const ArenaLayout& layout, std::uint32_t ranks,
                       const std::string& where) {
  if (stages.empty()) {
    throw Error(Code::kUnsupported, "{}: the model is one piece; models with stages are needed, as mlp has", where);
  }
  if (ranks > stages.size()) {
    throw Error(Code::kUnsupported, "{}: the run has {} ranks, the model has {} stages; every rank needs one", where,
                ranks, stages.size());
  }
  const StageParameters parameters = parameters_of(stages);
  Placement placement{.stages = cut_evenly(parameters.bytes, ranks),
                      .bytes = std::vector<std::uint64_t>(ranks + 1, layout.parameter_bytes)};
  check_sharing(stages, parameters, placement, where);
  std::size_t rank = 0;  // The rank of the previous entry.
  placement.bytes[0] = 0;
  for (const ArenaEntry& entry : layout.entries) {
    if (entry.block != "parameters") continue;
    const auto user = parameters.first_user.find(entry.name);
    const std::size_t own = user == parameters.first_user.end() ? rank : placement.rank_of_stage(user->second);
    if (own < rank) {
      throw Error(Code::kUnsupported, "{}: parameter '{}' of stage '{}' comes after those of later stages", where,
                  entry.name, stages[user->second].name);
    }
    while (rank < own) placement.bytes[++rank] = entry.offset_bytes;
  }
  return placement;
}

}  // namespace trainyard::pipeline
