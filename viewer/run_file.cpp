// SPDX-License-Identifier: Apache-2.0
#include "viewer/run_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/config/bounded_json.h"
#include "messages/error.h"
#include "messages/json.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxLine = 4u << 20;

double value_of(const std::string& word) {
  if (word == "Infinity") return std::numeric_limits<double>::infinity();
  if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

Metrics metrics_of(const json& line, std::int64_t time_ns) {
  Metrics metrics{
      .step = line.at("step"), .total_steps = line.value("total_steps", std::uint64_t{0}), .time_ns = time_ns};
  metrics.epoch = line.value("epoch", std::uint64_t{0});
  line.at("stage").get_to(metrics.stage);
  metrics.samples = line.value("samples", std::uint64_t{0});
  const json& values = line.at("values");
  for (const auto& [name, value] : values.items()) {
    if (value.is_number()) metrics.values.push_back({name, value.get<double>()});
  }
  if (!line.contains("not_finite")) return metrics;
  for (const auto& [name, word] : line.at("not_finite").items()) {
    metrics.values.push_back({name, value_of(word.get<std::string>())});
  }
  return metrics;
}

/// Returns the time of a line in nanoseconds. The file contains seconds with six decimals, for which a double is
/// precise enough.
std::int64_t time_of(const json& line) { return std::llround(line.at("time").get<double>() * 1e6) * 1000; }

}  // namespace

RunFile::RunFile(std::string path, std::int64_t from_ns) : path_(std::move(path)), from_ns_(from_ns) {}

RunFile::~RunFile() {
  if (file_ >= 0) ::close(file_);
}

// Opens the file, unless it is open already. Only regular files are opened, because reading from a FIFO or a device
// could block forever.
bool RunFile::open() {
  if (file_ >= 0) return true;
  file_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (file_ >= 0 && (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode))) {
    ::close(file_);
    file_ = -1;
  }
  return file_ >= 0;
}

bool RunFile::read(std::size_t bytes, Book& book, const OnMetrics& on_metrics) {
  if (!open()) return false;
  const std::size_t old = unread_.size();
  unread_.resize(old + bytes);
  const ssize_t got = ::read(file_, unread_.data() + old, bytes);
  unread_.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  take_lines(book, on_metrics);
  return got == static_cast<ssize_t>(bytes);
}

void RunFile::take_lines(Book& book, const OnMetrics& on_metrics) {
  std::size_t begin = 0, end;
  while ((end = unread_.find('\n', begin)) != std::string::npos) {
    if (!std::exchange(skipping_, false)) take(std::string_view(unread_).substr(begin, end - begin), book, on_metrics);
    begin = end + 1;
  }
  unread_.erase(0, begin);
  if (unread_.size() <= kMaxLine) return;
  unread_.clear();
  skipping_ = true;
  ++damaged_;
}

void RunFile::take(std::string_view text, Book& book, const OnMetrics& on_metrics) {
  const std::optional<json> line = parse_bounded_json(text);
  try {
    if (!line || !line->is_object())
      throw Error(Code::kCorrupt, "not an object, but {}", line ? line->type_name() : "no JSON");
    const std::int64_t time_ns = time_of(*line);
    if (time_ns < from_ns_) return;
    const auto kind = line->at("kind").get<std::string>();
    if (kind == "metrics") {
      const Metrics metrics = metrics_of(*line, time_ns);
      if (book.add(metrics) && on_metrics) on_metrics(metrics);
    } else if (kind == "log") {
      const auto level = find_by_name<LogLevel>(line->at("level").get<std::string>());
      book.add(LogRecord{time_ns, level.value_or(LogLevel::kInfo), line->at("component"), line->at("text")});
    } else if (kind == "prediction") {
      book.add(Sample{.step = line->at("step"), .title = line->at("title"), .text = line->at("text")});
    } else if (kind == "histograms") {
      book.add(from_json<Histograms>(line->at("message").dump()));
    } else if (kind == "confusion") {
      book.add(from_json<Confusion>(line->at("message").dump()));
    } else if (kind == "samples") {
      book.add(from_json<SampleResults>(line->at("message").dump()));
    }
  } catch (const std::exception&) {
    ++damaged_;
  }
}

}  // namespace trainyard::viewer
