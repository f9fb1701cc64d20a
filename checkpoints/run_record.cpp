// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/run_record.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "checkpoints/json_input.h"
#include "checkpoints/sha256.h"
#include "messages/error.h"

namespace trainyard::checkpoints {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Converts a number to JSON. NaN and infinities become strings, because JSON has no numbers for them and a run that
/// diverged must be saved, too.
ordered_json number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

/// The inverse of number().
double number_from(const json& value, const std::string& where) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  throw Error(Code::kCorrupt, "{}: {} is not a number", where, value.dump());
}

/// Converts metrics to a list, which keeps their order, unlike an object.
ordered_json metrics_to(const std::vector<Scalar>& metrics) {
  ordered_json list = ordered_json::array();
  for (const Scalar& scalar : metrics) list.push_back({{"name", scalar.name}, {"value", number(scalar.value)}});
  return list;
}

std::vector<Scalar> metrics_from(const json& list, const std::string& where, const char* key = "metrics") {
  std::vector<Scalar> metrics;
  if (!list.is_array()) throw Error(Code::kCorrupt, "{}: '{}' is not a list", where, key);
  for (const json& item : list) {
    metrics.push_back({string_member(item, "name", where), number_from(member(item, "value", where), where)});
  }
  return metrics;
}

ordered_json settings_to(const std::vector<Setting>& settings) {
  ordered_json list = ordered_json::array();
  for (const Setting& setting : settings) {
    list.push_back({{"component", setting.component},
                    {"parameter", setting.parameter},
                    {"value", setting.value},
                    {"instead_of", setting.instead_of}});
  }
  return list;
}

std::vector<Setting> settings_from(const json& list, const std::string& where) {
  std::vector<Setting> settings;
  if (!list.is_array()) throw Error(Code::kCorrupt, "{}: 'settings' is not a list", where);
  for (const json& item : list) {
    settings.push_back({string_member(item, "component", where), string_member(item, "parameter", where),
                        string_member(item, "value", where), string_member(item, "instead_of", where)});
  }
  return settings;
}

/// Reads the hyperparameters. They are an object and not a list, because their order does not matter.
std::map<std::string, double> numbers_from(const json& object, const std::string& where) {
  std::map<std::string, double> numbers;
  if (!object.is_object()) throw Error(Code::kCorrupt, "{}: 'hyperparameters' is not an object", where);
  for (const auto& [name, value] : object.items()) numbers[name] = number_from(value, where);
  return numbers;
}

/// Converts states to JSON. The values of a state are any JSON object. Its tensors are listed by name only, because
/// their data is in state.safetensors.
ordered_json states_to(const std::vector<SavedState>& states) {
  ordered_json list = ordered_json::array();
  for (const SavedState& state : states) {
    ordered_json item = {{"owner", state.owner}};
    if (state.per_rank) item["rank"] = state.rank;
    if (!state.values.empty()) item["values"] = ordered_json::parse(state.values);
    if (!state.tensors.empty()) item["tensors"] = ordered_json::array();
    for (const StateTensor& tensor : state.tensors) item["tensors"].push_back(tensor.name);
    list.push_back(std::move(item));
  }
  return list;
}

SavedState state_from(const json& item, const std::string& where) {
  SavedState state{.owner = string_member(item, "owner", where)};
  state.per_rank = item.contains("rank");
  if (state.per_rank) state.rank = static_cast<std::uint32_t>(unsigned_member(item, "rank", where));
  if (item.contains("values")) {
    if (!item["values"].is_object()) throw Error(Code::kCorrupt, "{}: 'values' of a state is not an object", where);
    state.values = item["values"].dump();
  }
  if (!item.contains("tensors")) return state;
  if (!item["tensors"].is_array()) throw Error(Code::kCorrupt, "{}: 'tensors' of a state is not a list", where);
  for (const json& name : item["tensors"]) {
    if (!name.is_string()) throw Error(Code::kCorrupt, "{}: {} is not the name of a tensor", where, name.dump());
    state.tensors.push_back({name.get<std::string>(), {}});
  }
  return state;
}

std::vector<SavedState> states_from(const json& list, const std::string& where) {
  if (!list.is_array()) throw Error(Code::kCorrupt, "{}: 'states' is not a list", where);
  std::vector<SavedState> states;
  for (const json& item : list) states.push_back(state_from(item, where));
  return states;
}

/// Makes states from what format 1 contains: the state of the random generator of rank 0, and the loss scale with its
/// counters.
std::vector<SavedState> states_of_format_1(const json& root, const std::string& where) {
  const std::vector<std::uint8_t> rng = from_hex(string_member(root, "rng", where), where + ": 'rng'");
  std::vector<SavedState> states;
  if (!rng.empty()) {
    Tensor generator = Tensor::empty(DType::kUInt8, {static_cast<std::int64_t>(rng.size())});
    std::ranges::copy(rng, generator.as<std::uint8_t>().begin());
    states.push_back(
        {.owner = "random_numbers", .per_rank = true, .values = "", .tensors = {{"generator", generator}}});
  }
  if (!root.contains("host_state")) return states;  // The first checkpoints of version 0.1 lack this.
  ordered_json values = ordered_json::object();
  for (const Scalar& scalar : metrics_from(root["host_state"], where, "host_state")) {
    values[scalar.name] = number(scalar.value);
  }
  if (!values.empty()) {
    states.push_back({.owner = "loss_scale", .per_rank = false, .values = values.dump(), .tensors = {}});
  }
  return states;
}

std::uint64_t skipped_steps_of_format_1(const json& root, const std::string& where) {
  if (!root.contains("host_state")) return 0;
  for (const Scalar& scalar : metrics_from(root["host_state"], where, "host_state")) {
    if (scalar.name == "skipped_steps" && scalar.value > 0) return static_cast<std::uint64_t>(scalar.value);
  }
  return 0;
}

/// Reads the fields that are the same in both formats.
RunRecord common_part(const json& root, const std::string& where) {
  return {.step = unsigned_member(root, "step", where),
          .epoch = unsigned_member(root, "epoch", where),
          .samples = unsigned_member(root, "samples", where),
          .cursor = {},
          .metrics = metrics_from(member(root, "metrics", where), where),
          .states = {},
          .reason = string_member(root, "reason", where),
          .model = string_member(root, "model", where),
          .optimizer = string_member(root, "optimizer", where),
          .hyperparameters = numbers_from(member(root, "hyperparameters", where), where),
          .time = string_member(root, "time", where)};
}

/// The limit is higher than this file's own nesting, because the values in the states of users' components may be
/// nested, too.
constexpr int kMaxDepth = 72;

}  // namespace

std::string state_tensor_name(const SavedState& state, const std::string& tensor) {
  const std::string name = state.owner + "/" + tensor;
  return state.per_rank ? "rank" + std::to_string(state.rank) + "/" + name : name;
}

std::string format_run_record(const RunRecord& record) {
  ordered_json hyperparameters = ordered_json::object();
  for (const auto& [name, value] : record.hyperparameters) hyperparameters[name] = number(value);
  const ordered_json root = {
      {"step", record.step},
      {"epoch", record.epoch},
      {"samples", record.samples},
      {"ranks", record.ranks},
      {"cursor", {{"epoch", record.cursor.epoch}, {"samples", record.cursor.samples}}},
      {"skipped_steps", record.skipped_steps},
      {"reason", record.reason},
      {"time", record.time},
      {"model", record.model},
      {"optimizer", record.optimizer},
      {"hyperparameters", std::move(hyperparameters)},
      {"metrics", metrics_to(record.metrics)},
      {"settings", settings_to(record.settings)},
      {"states", states_to(record.states)},
  };
  // Invalid UTF-8 is replaced: a text that a user has typed, such as the reason, must not make saving fail.
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Every field is required. If a missing cursor, for instance, were replaced by a default, the resumed run would train
// on the wrong samples.
RunRecord parse_run_record(const std::string& text, const std::string& where) {
  const json root = parse_strict_json(text, where, kMaxDepth);
  RunRecord record = common_part(root, where);
  const json& cursor = member(root, "cursor", where);
  record.cursor.epoch = unsigned_member(cursor, "epoch", where);
  if (cursor.contains("batch")) {
    record.cursor_batches = unsigned_member(cursor, "batch", where);
    record.skipped_steps = skipped_steps_of_format_1(root, where);
    record.states = states_of_format_1(root, where);
    return record;
  }
  record.cursor.samples = unsigned_member(cursor, "samples", where);
  record.skipped_steps = unsigned_member(root, "skipped_steps", where);
  record.ranks = static_cast<std::uint32_t>(unsigned_member(root, "ranks", where));
  // Records of earlier versions lack this field, because parameters could not be changed during a run.
  if (root.contains("settings")) record.settings = settings_from(root["settings"], where);
  record.states = states_from(member(root, "states", where), where);
  return record;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace trainyard::checkpoints
