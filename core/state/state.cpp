// SPDX-License-Identifier: Apache-2.0
#include "core/state/state.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/config/bounded_json.h"
#include "messages/error.h"

namespace trainyard {

// clang-format off
void StateWriter::set(const std::string& name, std::uint64_t value, StateScope scope) {
  parts_[scope].values[name] = nlohmann::json(value).dump();
}
void StateWriter::set(const std::string& name, bool value, StateScope scope) {
  parts_[scope].values[name] = value ? "true" : "false";
}
// clang-format on

/// JSON cannot represent infinities and NaN, so they are stored as the strings that the JSON form of messages uses,
/// too.
void StateWriter::set(const std::string& name, double value, StateScope scope) {
  const char* word = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  parts_[scope].values[name] = (std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(word)).dump();
}

/// Bytes that are not valid UTF-8 are replaced, so that text from a user cannot prevent a checkpoint.
void StateWriter::set(const std::string& name, const std::string& text, StateScope scope) {
  parts_[scope].values[name] = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void StateWriter::set(const std::string& name, Tensor tensor, StateScope scope) {
  parts_[scope].tensors.push_back({name, std::move(tensor)});
}

void StateWriter::set_json(const std::string& name, const std::string& json, StateScope scope) {
  const auto parsed = parse_bounded_json(json);
  if (!parsed) throw Error(Code::kInvalidArgument, "the state '{}' of '{}' is not JSON: {}", name, owner_, json);
  parts_[scope].values[name] = parsed->dump();
}

std::vector<SavedState> StateWriter::take() {
  std::vector<SavedState> states;
  for (auto& [scope, part] : parts_) {
    SavedState state{.owner = owner_, .rank = rank_, .per_rank = scope == StateScope::kRank};
    nlohmann::json values = nlohmann::json::object();
    for (const auto& [name, value] : part.values) values[name] = nlohmann::json::parse(value);
    if (!values.empty()) state.values = values.dump();
    state.tensors = std::move(part.tensors);
    states.push_back(std::move(state));
  }
  parts_.clear();
  return states;
}

StateReader::StateReader(const RestoredStates& restored, const std::string& owner, std::uint32_t rank)
    : path_(restored.path), owner_(owner), step_(restored.step), ranks_(restored.ranks) {
  for (const SavedState& state : restored.states) {
    if (state.owner != owner || (state.per_rank && state.rank != rank)) continue;
    for (const StateTensor& tensor : state.tensors) tensors_[tensor.name] = tensor.data;
    if (state.values.empty()) continue;
    const auto values = parse_bounded_json(state.values);
    if (!values || !values->is_object()) throw Error(Code::kCorrupt, "{}: the values are no JSON object", where());
    for (const auto& [name, value] : values->items()) values_[name] = value.dump();
  }
}

std::string StateReader::where() const { return fmt::format("{}: the state of '{}'", path_, owner_); }

std::string StateReader::json(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw Error(Code::kCorrupt, "{} has no value '{}'", where(), name);
  return found->second;
}

double StateReader::number(const std::string& name) const {
  const auto value = nlohmann::json::parse(json(name));
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  throw Error(Code::kCorrupt, "{}: '{}' is {}; a number is allowed", where(), name, value.dump());
}

std::uint64_t StateReader::count(const std::string& name) const {
  const auto value = nlohmann::json::parse(json(name));
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  throw Error(Code::kCorrupt, "{}: '{}' is {}; a whole number of at least 0 is allowed", where(), name, value.dump());
}

bool StateReader::flag(const std::string& name) const {
  const auto value = nlohmann::json::parse(json(name));
  if (value.is_boolean()) return value.get<bool>();
  throw Error(Code::kCorrupt, "{}: '{}' is {}; true or false is allowed", where(), name, value.dump());
}

std::string StateReader::text(const std::string& name) const {
  const auto value = nlohmann::json::parse(json(name));
  if (value.is_string()) return value.get<std::string>();
  throw Error(Code::kCorrupt, "{}: '{}' is {}; a string is allowed", where(), name, value.dump());
}

const Tensor& StateReader::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw Error(Code::kCorrupt, "{} has no tensor '{}'", where(), name);
  return found->second;
}

const Tensor& StateReader::tensor(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape) const {
  const Tensor& found = tensor(name);
  if (found.dtype == dtype && found.shape == shape) return found;
  throw Error(Code::kShapeMismatch, "{}: tensor '{}' is {} of shape {}, this run's is {} of shape {}", where(), name,
              name_of(found.dtype), to_text(found.shape), name_of(dtype), to_text(shape));
}

}  // namespace trainyard
