// SPDX-License-Identifier: Apache-2.0
#include "components/logger/jsonl_sink.h"

#include <cmath>

#include "components/logger/json_text.h"
#include "components/logger/number_text.h"

namespace trainyard {

// A line looks like this:
//
//     {"kind":"metrics","time":1732176886.123456,"stage":"train","step":840,...,"values":{"loss":2.1034}}

namespace {

/// Removes an incomplete last line and returns `path`. Called in the initialiser of the file, because this must happen
/// before the file is opened.
std::string torn_line_dropped(const std::string& path) {
  drop_torn_line(path);
  return path;
}

std::string_view name_of_not_finite(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

}  // namespace

JsonlSink::JsonlSink(const std::string& path) : file_(torn_line_dropped(path)) {}

// Lines are written directly into the file's buffer, because building a JSON object for every step would be slow.
void JsonlSink::begin(std::string_view kind, std::int64_t time_ns) {
  std::string& out = file_.buffer();
  out.append("{\"kind\":\"").append(kind).append("\",\"time\":");
  append_seconds(out, time_ns);
}

// Field names are constants of this file and need no escaping.
void JsonlSink::key(std::string_view name) { file_.buffer().append(",\"").append(name).append("\":"); }

void JsonlSink::text(std::string_view name, std::string_view value) {
  key(name);
  append_json_string(file_.buffer(), value);
}

void JsonlSink::count(std::string_view name, std::uint64_t value) {
  key(name);
  append_exact(file_.buffer(), value);
}

void JsonlSink::values(const std::vector<Scalar>& scalars) {
  std::string& out = file_.buffer();
  key("values");
  char separator = '{';
  bool all_finite = true;
  for (const Scalar& scalar : scalars) {
    out += std::exchange(separator, ',');
    append_json_string(out, scalar.name);
    out += ':';
    append_json_number(out, scalar.value);
    all_finite = all_finite && std::isfinite(scalar.value);
  }
  out += scalars.empty() ? "{}" : "}";
  if (all_finite) return;
  // Written to a separate field, so that programs that read only numbers need no special case.
  key("not_finite");
  separator = '{';
  for (const Scalar& scalar : scalars) {
    if (std::isfinite(scalar.value)) continue;
    out += std::exchange(separator, ',');
    append_json_string(out, scalar.name);
    out.append(":\"").append(name_of_not_finite(scalar.value)).append("\"");
  }
  out += '}';
}

void JsonlSink::end() { file_.buffer() += "}\n"; }

void JsonlSink::on(const Metrics& metrics) {
  begin("metrics", metrics.time_ns);
  text("stage", metrics.stage);
  count("step", metrics.step);
  // An unknown total is left out rather than written as 0.
  if (metrics.total_steps != 0) count("total_steps", metrics.total_steps);
  count("epoch", metrics.epoch);
  count("samples", metrics.samples);
  text("unit", metrics.unit);
  count("units", metrics.units);
  values(metrics.values);
  end();
}

void JsonlSink::on(const ModelInfo& model) {
  begin("model", realtime_ns());
  text("model", model.model);
  text("device", model.device);
  text("precision", model.precision);
  count("parameters", model.parameters);
  count("arena_bytes", model.arena_bytes);
  end();
}

void JsonlSink::on(const DatasetInfo& dataset) {
  begin("dataset", realtime_ns());
  text("dataset", dataset.dataset);
  count("batch_size", dataset.batch_size);
  count("classes", dataset.classes);
  key("splits");
  char separator = '{';
  for (const SplitInfo& split : dataset.splits) {
    file_.buffer() += std::exchange(separator, ',');
    append_json_string(file_.buffer(), split.name);
    file_.buffer() += ':';
    append_exact(file_.buffer(), split.samples);
  }
  file_.buffer() += dataset.splits.empty() ? "{}" : "}";
  end();
}

void JsonlSink::on(const Prediction& prediction) {
  begin("prediction", realtime_ns());
  count("step", prediction.step);
  text("title", prediction.title);
  text("text", prediction.text);
  count("tensors", prediction.tensors.size());
  end();
}

void JsonlSink::on(const CheckpointDone& checkpoint) {
  begin("checkpoint", realtime_ns());
  count("step", checkpoint.step);
  text("path", checkpoint.path);
  count("bytes", checkpoint.bytes);
  text("error", checkpoint.error);
  end();
}

void JsonlSink::on(const LogRecord& record) {
  begin("log", record.time_ns);
  text("level", std::string(name_of(record.level)));
  text("component", record.component);
  text("text", record.text);
  end();
}

}  // namespace trainyard
