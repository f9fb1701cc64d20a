// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "archive/followed_file.h"
#include "archive/metrics_source.h"
#include "core/config/bounded_json.h"

namespace trainyard::archive {

namespace {

using nlohmann::json;

/// The fields of a line of kind "metrics" that tables need.
struct MetricsLine {
  std::string kind;
  std::string stage;
  std::string unit;
  double time = 0;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;
  std::uint64_t units = 0;
  std::vector<std::pair<std::string, double>> values;
  std::size_t value_count = 0;  ///< The entries of `values` that belong to this line. Their memory is reused.

  void clear() {
    kind.clear();
    stage.clear();
    unit.clear();
    time = 0;
    step = epoch = samples = units = 0;
    value_count = 0;
  }

  void add(const std::string& name, double value) {
    if (value_count == values.size()) values.emplace_back();
    auto& [its_name, its_value] = values[value_count++];
    its_name = name;
    its_value = value;
  }
};

/// Reads a line with a SAX parser. Building a tree of JSON values for each line would take most of the time.
class LineParser final : public nlohmann::json_sax<json> {
 public:
  explicit LineParser(MetricsLine& line) : line_(line) {}

  bool parse(std::string_view text) {
    line_.clear();
    depth_ = 0;
    key_.clear();
    object_.clear();
    return json::sax_parse(text.begin(), text.end(), this);
  }

  bool null() override {
    // The logger writes null for a value that is not finite. The object "not_finite", which follows, contains the
    // value.
    return true;
  }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value), 0); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value), value); }
  bool number_float(number_float_t value, const string_t&) override { return number(value, 0); }
  bool string(string_t& value) override {
    if (depth_ == 1) {
      if (key_ == "kind") line_.kind = value;
      if (key_ == "stage") line_.stage = value;
      if (key_ == "unit") line_.unit = value;
    } else if (depth_ == 2 && object_ == "not_finite") {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      line_.add(key_, value == "Infinity" ? kInfinity : value == "-Infinity" ? -kInfinity : std::nan(""));
    }
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& key) override {
    key_.swap(key);
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 1) object_ = key_;
    return ++depth_ <= kMaxJsonDepth;
  }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ <= kMaxJsonDepth; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

 private:
  bool number(double value, std::uint64_t whole) {
    if (depth_ == 2 && object_ == "values") line_.add(key_, value);
    if (depth_ != 1) return true;
    if (key_ == "time") line_.time = value;
    if (key_ == "step") line_.step = whole;
    if (key_ == "epoch") line_.epoch = whole;
    if (key_ == "samples") line_.samples = whole;
    if (key_ == "units") line_.units = whole;
    return true;
  }

  MetricsLine& line_;
  int depth_ = 0;
  std::string key_;
  std::string object_;  ///< The key of the object at depth 2.
};

class JsonlSource final : public MetricsSource {
 public:
  JsonlSource(const std::string& path, const MetricsLimits& limits) : file_(path, limits.line_bytes), limits_(limits) {}

  const std::string& path() const override { return file_.path(); }

  std::vector<const MetricsTable*> tables() const override {
    std::vector<const MetricsTable*> all;
    for (const auto& [stage, filler] : fillers_) all.push_back(&filler.table());
    return all;
  }

  bool update() override {
    changed_ = file_.look();
    if (changed_) {
      fillers_.clear();
      damaged_ = 0;
      if (limits_.tail_bytes != 0) file_.skip_to_tail(limits_.tail_bytes);
    }
    file_.read_lines([this](std::string_view line) {
      read(line);
      return true;
    });
    // It is unknown to which stage a damaged line belongs, so every table counts all of them.
    for (auto& [stage, filler] : fillers_) {
      filler.table().damaged_lines = damaged_ + file_.skipped_lines();
      filler.table().torn = file_.torn();
    }
    return changed_;
  }

 private:
  void read(std::string_view text) {
    // Most lines of other kinds need not be parsed, because the logger writes the key "kind" first.
    if (text.starts_with(R"({"kind":")") && !text.starts_with(R"({"kind":"metrics")")) return;
    if (!parser_.parse(text)) {
      ++damaged_;
    } else if (line_.kind == "metrics") {
      store();
    }
  }

  void store() {
    if (!fillers_.contains(line_.stage) && fillers_.size() >= limits_.tables) return;
    TableFiller& filler = fillers_.try_emplace(line_.stage, line_.stage, limits_).first->second;
    constexpr double kMostSeconds = 9e9;
    const double time = line_.time >= 0 && line_.time < kMostSeconds ? line_.time : 0;
    if (!filler.add_row(line_.step, std::llround(time * 1e6) * 1000, line_.samples)) return;
    changed_ = true;
    // These are the additional columns that the CSV files have, too.
    filler.set(filler.series("epoch"), static_cast<double>(line_.epoch));
    if (!line_.unit.empty() && line_.unit != "sample") {
      filler.set(filler.series(line_.unit + "s"), static_cast<double>(line_.units));
    }
    for (std::size_t i = 0; i < line_.value_count; ++i) {
      filler.set(filler.series(line_.values[i].first), line_.values[i].second);
    }
  }

  FollowedFile file_;
  MetricsLimits limits_;
  std::map<std::string, TableFiller> fillers_;
  MetricsLine line_;
  LineParser parser_{line_};
  std::uint64_t damaged_ = 0;
  bool changed_ = false;
};

}  // namespace

std::unique_ptr<MetricsSource> make_jsonl_source(const std::string& path, const MetricsLimits& limits) {
  return std::make_unique<JsonlSource>(path, limits);
}

}  // namespace trainyard::archive
