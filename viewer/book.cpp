// SPDX-License-Identifier: Apache-2.0
#include "viewer/book.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxStages = 64;
constexpr std::size_t kMaxLog = 100'000;
constexpr std::size_t kMaxSamples = 1000;
/// A larger image, in base64, is left out.
constexpr std::size_t kMaxImage = 96u << 10;
constexpr std::size_t kMaxAlerts = 1000;
constexpr std::size_t kMaxChanges = 10'000;
/// A longer text of a record or a sample is cut.
constexpr std::size_t kMaxText = 64u << 10;
/// At most so many elements of a list are pushed at a time.
constexpr std::uint64_t kMaxNews = 200;
/// Pages that watch the graph get news several times a second.
constexpr std::chrono::seconds kGraphInterest{2};

std::string bounded(std::string text) {
  if (text.size() > kMaxText) text = text.substr(0, kMaxText) + " ...";
  return text;
}

std::uint64_t hash_of(const LogRecord& record) {
  const std::hash<std::string_view> hash;
  return hash(record.text) * 31 + hash(record.component) * 17 + static_cast<std::uint64_t>(record.time_ns / 1000);
}

std::uint64_t hash_of(const Sample& sample) {
  const std::hash<std::string_view> hash;
  const std::string result =
      sample.result.is_null() ? "" : sample.result.dump(-1, ' ', true, json::error_handler_t::replace);
  return (hash(sample.text) * 31 + hash(sample.title)) * 31 + hash(result) * 17 + sample.step;
}

bool contains(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return part.empty() || !std::ranges::search(text, part, {}, lower, lower).empty();
}

bool matches(const LogRecord& record, const LogRequest& request) {
  return record.level >= request.level && (request.component.empty() || record.component == request.component) &&
         contains(record.text, request.text);
}

}  // namespace

Sample sample_of(const json& prediction) {
  Sample sample{prediction.at("step"), prediction.at("title"), prediction.at("text")};
  for (const json& tensor : prediction.at("tensors")) {
    sample.tensors.push_back({{"dtype", tensor.at("dtype")}, {"shape", tensor.at("shape")}});
  }
  return sample;
}

json json_of(const Change& change) {
  return {{"time_ns", change.time_ns}, {"step", change.step}, {"component", change.component},
          {"name", change.name},       {"from", change.from}, {"to", change.to},
          {"who", change.who}};
}

Change change_of(const json& object) {
  return {object.at("time_ns"), object.at("step"), object.at("component"), object.at("name"),
          object.at("from"),    object.at("to"),   object.at("who")};
}

json json_of(const Alert& alert) {
  return {{"time_ns", alert.time_ns},
          {"step", alert.step},
          {"kind", name_of(alert.kind)},
          {"text", alert.text},
          {"severity", name_of(alert.severity)}};
}

Book::Book(Identity identity)
    : identity_(std::move(identity)),
      log_(kMaxLog),
      samples_(kMaxSamples),
      changes_(kMaxChanges),
      alerts_(kMaxAlerts) {}

void Book::set_identity(Identity identity) {
  const std::lock_guard lock(mutex_);
  identity_ = std::move(identity);
}

bool Book::add(const Metrics& metrics) {
  const std::lock_guard lock(mutex_);
  auto stage = stages_.find(metrics.stage);
  if (stage == stages_.end()) {
    if (stages_.size() >= kMaxStages) return false;
    stage = stages_.emplace(metrics.stage, Columns()).first;
  }
  step_ = std::max(step_, metrics.step);
  if (metrics.total_steps != 0) total_steps_ = metrics.total_steps;
  return stage->second.add(metrics);
}

bool Book::add(const LogRecord& record) {
  const std::lock_guard lock(mutex_);
  if (!known_records_.insert(hash_of(record)).second) return false;
  // What was forgotten can no longer come twice: both sources are past it.
  if (log_.end() - log_.first() == kMaxLog) known_records_.erase(hash_of(log_.at(log_.first())));
  log_.add({record.time_ns, record.level, printable_line(bounded(record.component)), printable(bounded(record.text))});
  return true;
}

// A sample comes as a message and as a line of the file. Two equal texts of one step are shown once.
void Book::add(Sample sample) {
  const std::lock_guard lock(mutex_);
  if (sample.image.size() > kMaxImage) sample.image.clear();
  if (!known_samples_.insert(hash_of(sample)).second) return;
  if (samples_.end() - samples_.first() == kMaxSamples) known_samples_.erase(hash_of(samples_.at(samples_.first())));
  sample.text = printable(bounded(std::move(sample.text)));
  sample.title = printable_line(bounded(std::move(sample.title)));
  samples_.add(std::move(sample));
}

void Book::add(const SampleResults& results) {
  const std::size_t most = std::min(results.samples.size(), SampleResults::kMaxSamples);
  for (std::size_t i = 0; i < most; ++i) {
    const SampleResult& each = results.samples[i];
    const std::string split = printable_line(bounded(results.split));
    Sample sample{.step = results.step, .title = split + " " + std::to_string(each.index), .image = each.image};
    sample.result = {{"split", split},
                     {"index", each.index},
                     {"right", printable_line(bounded(each.right))},
                     {"predicted", printable_line(bounded(each.predicted))},
                     {"probability", each.probability}};
    add(std::move(sample));
  }
}

void Book::add(const Histograms& histograms) {
  const std::lock_guard lock(mutex_);
  histograms_.add(histograms);
}

void Book::add(const Confusion& confusion) {
  const std::lock_guard lock(mutex_);
  confusion_.add(confusion);
}

void Book::add(Change change) {
  const std::lock_guard lock(mutex_);
  changes_.add(std::move(change));
}

void Book::add(Alert alert) {
  const std::lock_guard lock(mutex_);
  alerts_.add(std::move(alert));
}

void Book::drop_repeated_steps() {
  const std::lock_guard lock(mutex_);
  for (auto& [stage, columns] : stages_) columns.drop_repeated_steps();
}

void Book::set_phase(RunPhase phase, const std::string& message) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  message_ = message;
}

void Book::set_graph(json graph) {
  const std::lock_guard lock(mutex_);
  graph_ = std::move(graph);
  ++graph_number_;
}

void Book::set_hyperparameters(json map) {
  const std::lock_guard lock(mutex_);
  hyperparameters_ = std::move(map);
}

json Book::state() const {
  return {{"state", name_of(phase_)}, {"message", message_}, {"step", step_}, {"total_steps", total_steps_}};
}

json Book::summary() const {
  const std::lock_guard lock(mutex_);
  json all = state();
  all.update({{"run", identity_.run},
              {"name", identity_.name},
              {"file", identity_.file},
              {"live", !is_over(phase_) && identity_.source == "live"},
              {"source", identity_.source},
              {"started_ns", identity_.started_ns},
              {"directory", identity_.directory}});
  return all;
}

json Book::series() const {
  const std::lock_guard lock(mutex_);
  json list = json::array();
  for (const auto& [stage, columns] : stages_) {
    for (const Column& column : columns.metrics()) {
      std::size_t row = columns.rows();
      while (row > 0 && is_absent(column.values[row - 1])) --row;
      list.push_back({{"stage", stage},
                      {"name", column.name},
                      {"rows", column.present},
                      {"last", row > 0 ? json(column.values[row - 1]) : json()},
                      {"last_step", row > 0 ? json(columns.steps()[row - 1]) : json()}});
    }
  }
  return list;
}

json Book::curve(const std::string& stage, const std::string& name, const CurveRequest& request) const {
  Curve curve;
  {
    const std::lock_guard lock(mutex_);
    const auto columns = stages_.find(stage);
    if (columns == stages_.end()) {
      std::vector<std::string> known;
      for (const auto& [each, unused] : stages_) known.push_back(each);
      throw Error(Code::kNotFound, "the run has no stage '{}'{}", stage, suggestion(stage, known));
    }
    const Column* column = columns->second.find(name);
    if (column == nullptr) {
      std::vector<std::string> known;
      for (const Column& each : columns->second.metrics()) known.push_back(each.name);
      throw Error(Code::kNotFound, "the stage '{}' has no metric '{}'{}", stage, name, suggestion(name, known));
    }
    CurveRequest from_start = request;
    // A book without a known start counts from its first row.
    from_start.zero_time = identity_.started_ns != 0    ? static_cast<double>(identity_.started_ns) / 1e9
                           : columns->second.rows() > 0 ? columns->second.times().front()
                                                        : 0;
    curve = curve_of(columns->second, *column, from_start);
  }
  return {{"x", std::move(curve.x)},
          {"low", std::move(curve.low)},
          {"high", std::move(curve.high)},
          {"mean", std::move(curve.mean)},
          {"smooth", std::move(curve.smooth)},
          {"rows", curve.rows},
          {"from", curve.from},
          {"to", curve.to}};
}

json Book::record_json(std::uint64_t number) const {
  const LogRecord& record = log_.at(number);
  return {{"number", number},
          {"time_ns", record.time_ns},
          {"level", name_of(record.level)},
          {"component", record.component},
          {"text", record.text}};
}

json Book::log(const LogRequest& request) const {
  const std::lock_guard lock(mutex_);
  std::vector<json> newest_first;
  std::uint64_t number = std::min(request.before.value_or(log_.end()), log_.end());
  while (number > log_.first() && newest_first.size() < request.limit) {
    --number;
    if (matches(log_.at(number), request)) newest_first.push_back(record_json(number));
  }
  std::ranges::reverse(newest_first);
  return {{"records", std::move(newest_first)}, {"total", log_.end()}};
}

json Book::sample_json(std::uint64_t number) const {
  const Sample& sample = samples_.at(number);
  return {{"number", number},
          {"step", sample.step},
          {"title", sample.title},
          {"text", sample.text},
          {"image", sample.image.empty() ? json() : json("data:image/png;base64," + sample.image)},
          {"tensors", sample.tensors},
          {"result", sample.result}};
}

json Book::samples(std::optional<std::uint64_t> before, std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = std::clamp(before.value_or(samples_.end()), samples_.first(), samples_.end());
  json list = json::array();
  for (std::uint64_t i = end - std::min<std::uint64_t>(limit, end - samples_.first()); i < end; ++i) {
    list.push_back(sample_json(i));
  }
  return list;
}

json Book::histograms() const {
  const std::lock_guard lock(mutex_);
  return histograms_.list();
}

json Book::histogram(HistogramOf of, const std::string& name, std::size_t buckets) const {
  const std::lock_guard lock(mutex_);
  return histograms_.series(of, name, buckets);
}

json Book::confusion(const std::string& split, std::optional<std::uint64_t> step) const {
  const std::lock_guard lock(mutex_);
  return confusion_.matrix(split, step);
}

json Book::changes() const {
  const std::lock_guard lock(mutex_);
  json list = json::array();
  for (std::uint64_t i = changes_.first(); i < changes_.end(); ++i) list.push_back(json_of(changes_.at(i)));
  return list;
}

json Book::alerts() const {
  const std::lock_guard lock(mutex_);
  json list = json::array();
  for (std::uint64_t i = alerts_.first(); i < alerts_.end(); ++i) list.push_back(json_of(alerts_.at(i)));
  return list;
}

json Book::graph() const {
  const std::lock_guard lock(mutex_);
  graph_read_ = std::chrono::steady_clock::now();
  if (graph_.is_null()) throw Error(Code::kNotFound, "nothing is known of the components of '{}'", identity_.run);
  return graph_;
}

json Book::hyperparameters() const {
  const std::lock_guard lock(mutex_);
  return hyperparameters_;
}

bool Book::graph_is_watched() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::steady_clock::now() < graph_read_ + kGraphInterest;
}

Identity Book::identity() const {
  const std::lock_guard lock(mutex_);
  return identity_;
}

RunPhase Book::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_;
}

std::uint64_t Book::step() const {
  const std::lock_guard lock(mutex_);
  return step_;
}

Positions Book::positions() const {
  const std::lock_guard lock(mutex_);
  Positions now{.log = log_.end(), .samples = samples_.end(), .alerts = alerts_.end(), .changes = changes_.end()};
  now.histograms = histograms_.revision();
  now.confusion = confusion_.revision();
  for (const auto& [stage, columns] : stages_) now.rows[stage] = columns.rows();
  return now;
}

std::vector<json> Book::news(const std::vector<std::string>& what, Positions& positions) const {
  const std::lock_guard lock(mutex_);
  std::vector<json> news;
  json now = state();
  if (std::string text = now.dump(-1, ' ', false, json::error_handler_t::replace); text != positions.state) {
    positions.state = std::move(text);
    now["push"] = "state";
    news.push_back(std::move(now));
  }
  for (const std::string& each : what) append_news(each, positions, news);
  return news;
}

// Called with the lock.
void Book::append_news(const std::string& what, Positions& positions, std::vector<json>& news) const {
  const auto list = [&](const char* push, const char* key, const auto& newest, std::uint64_t& position, auto to_json) {
    if (newest.end() <= position) return;
    const std::uint64_t skipped = newest.end() > kMaxNews ? newest.end() - kMaxNews : 0;
    json elements = json::array();
    for (std::uint64_t i = std::max({position, newest.first(), skipped}); i < newest.end(); ++i) {
      elements.push_back(to_json(i));
    }
    position = newest.end();
    news.push_back({{"push", push}, {key, std::move(elements)}});
  };
  if (what == "curves") {
    json changed = json::object();
    for (const auto& [stage, columns] : stages_) {
      std::size_t& known = positions.rows[stage];
      if (known != columns.rows()) changed[stage] = known = columns.rows();
    }
    if (!changed.empty()) news.push_back({{"push", "curves"}, {"stages", std::move(changed)}});
  } else if (what == "graph") {
    graph_read_ = std::chrono::steady_clock::now();
    if (positions.graph == graph_number_) return;
    positions.graph = graph_number_;
    news.push_back({{"push", "graph"}, {"graph", graph_}});
  } else if (what == "log") {
    list("log", "records", log_, positions.log, [&](std::uint64_t i) { return record_json(i); });
  } else if (what == "samples") {
    list("samples", "samples", samples_, positions.samples, [&](std::uint64_t i) { return sample_json(i); });
  } else if (what == "histograms" && positions.histograms != histograms_.revision()) {
    positions.histograms = histograms_.revision();
    news.push_back({{"push", "histograms"}, {"step", histograms_.last_step()}});
  } else if (what == "confusion" && positions.confusion != confusion_.revision()) {
    positions.confusion = confusion_.revision();
    news.push_back({{"push", "confusion"}, {"split", confusion_.last().split}, {"step", confusion_.last().step}});
  } else if (what == "alerts") {
    list("alerts", "alerts", alerts_, positions.alerts, [&](std::uint64_t i) { return json_of(alerts_.at(i)); });
  } else if (what == "parameters") {
    for (; positions.changes < changes_.end(); ++positions.changes) {
      if (positions.changes < changes_.first()) continue;
      news.push_back({{"push", "parameters"}, {"change", json_of(changes_.at(positions.changes))}});
    }
  }
}

}  // namespace trainyard::viewer
