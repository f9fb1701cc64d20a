// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/run_record.h"

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

/// JSON has no numbers for these values. They are kept as strings, so that a run that diverged is saved as it is.
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
  throw Error(Code::kCorrupt, "{}: {} is no number", where, value.dump());
}

/// This is a list, since metrics are shown in this order.
ordered_json metrics_to(const std::vector<Scalar>& metrics) {
  ordered_json list = ordered_json::array();
  for (const Scalar& scalar : metrics) list.push_back({{"name", scalar.name}, {"value", number(scalar.value)}});
  return list;
}

std::vector<Scalar> metrics_from(const json& list, const std::string& where, const char* key = "metrics") {
  std::vector<Scalar> metrics;
  if (!list.is_array()) throw Error(Code::kCorrupt, "{}: '{}' is no list", where, key);
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
  if (!list.is_array()) throw Error(Code::kCorrupt, "{}: 'settings' is no list", where);
  for (const json& item : list) {
    settings.push_back({string_member(item, "component", where), string_member(item, "parameter", where),
                        string_member(item, "value", where), string_member(item, "instead_of", where)});
  }
  return settings;
}

/// These are keyed by name, since the order of hyperparameters means nothing.
std::map<std::string, double> numbers_from(const json& object, const std::string& where) {
  std::map<std::string, double> numbers;
  if (!object.is_object()) throw Error(Code::kCorrupt, "{}: 'hyperparameters' is no object", where);
  for (const auto& [name, value] : object.items()) numbers[name] = number_from(value, where);
  return numbers;
}

}  // namespace

std::string format_run_record(const RunRecord& record) {
  ordered_json hyperparameters = ordered_json::object();
  for (const auto& [name, value] : record.hyperparameters) hyperparameters[name] = number(value);
  const ordered_json root = {
      {"step", record.step},
      {"epoch", record.epoch},
      {"samples", record.samples},
      {"cursor", {{"epoch", record.cursor.epoch}, {"batch", record.cursor.batch}}},
      {"reason", record.reason},
      {"time", record.time},
      {"model", record.model},
      {"optimizer", record.optimizer},
      {"hyperparameters", std::move(hyperparameters)},
      {"metrics", metrics_to(record.metrics)},
      {"host_state", metrics_to(record.host_state)},
      {"settings", settings_to(record.settings)},
      {"rng", to_hex(record.rng)},
  };
  // A reason that somebody typed may not be valid UTF-8, and must not make the checkpoint impossible.
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Every field must be there: a run that continued with a guessed cursor would train on other data than it says.
RunRecord parse_run_record(const std::string& text, const std::string& where) {
  const json root = parse_strict_json(text, where);
  const json& cursor = member(root, "cursor", where);
  return {.step = unsigned_member(root, "step", where),
          .epoch = unsigned_member(root, "epoch", where),
          .samples = unsigned_member(root, "samples", where),
          .cursor = {unsigned_member(cursor, "epoch", where), unsigned_member(cursor, "batch", where)},
          .rng = from_hex(string_member(root, "rng", where), where + ": 'rng'"),
          .metrics = metrics_from(member(root, "metrics", where), where),
          // Checkpoints of version 0.1 have none.
          .host_state = root.contains("host_state") ? metrics_from(root["host_state"], where, "host_state")
                                                    : std::vector<Scalar>{},
          .settings = root.contains("settings") ? settings_from(root["settings"], where) : std::vector<Setting>{},
          .reason = string_member(root, "reason", where),
          .model = string_member(root, "model", where),
          .optimizer = string_member(root, "optimizer", where),
          .hyperparameters = numbers_from(member(root, "hyperparameters", where), where),
          .time = string_member(root, "time", where)};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace trainyard::checkpoints
