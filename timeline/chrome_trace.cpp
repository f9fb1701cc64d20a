// SPDX-License-Identifier: Apache-2.0
#include "timeline/chrome_trace.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "timeline/batch_path.h"
#include "timeline/rows.h"

namespace trainyard::timeline {
namespace {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Converts nanoseconds to microseconds, the unit of the format, as a text, so that no digit is lost.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

class Writer {
 public:
  Writer(const std::string& run, const std::function<void(std::string_view)>& write) : run_(run), write_(write) {
    write_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  }

  /// Assigns and names the row of an event. This is done for all events first, because an arrow can refer to the row of
  /// a later event.
  void add_row(const Event& event) {
    const Row row = row_of(event);
    if (rows_.contains(row)) return;
    const std::size_t number = rows_.size() + 1;
    rows_[row] = number;
    if (row.own_thread == 0 && !row.steps) lanes_[row.component] = {row.pid, number};
    if (named_.insert(row.pid).second) describe("process_name", row.pid, 0, fmt::format("{} {}", run_, event.process));
    describe("thread_name", row.pid, number, name_of_row(event));
  }

  void add(const Event& event) {
    if (event.kind == SpanKind::kHop) return add_arrow(event);
    const Row row = row_of(event);
    line(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
                     json_text(title_of(event)), name_of(event.kind), row.pid, rows_.at(row),
                     microseconds(event.begin_ns), microseconds(event.length_ns()), arguments_of(event)));
  }

  void finish() { write_("\n]}\n"); }

 private:
  static std::string arguments_of(const Event& event) {
    std::string text = "{";
    const auto add = [&](const char* name, const std::string& value) {
      text += fmt::format("{}\"{}\":{}", text.size() == 1 ? "" : ",", name, value);
    };
    if (event.step != 0) add("step", fmt::to_string(event.step));
    if (event.trace != 0) {
      const BatchNumber number = batch_of(event.trace);
      add("batch", fmt::to_string(number.batch));
      add("rank", fmt::to_string(number.rank));
    }
    if (!event.peer.empty()) add("from", json_text(event.peer));
    return text + "}";
  }

  /// Adds the arrow of a message. A sender that records no spans, such as a program in another language, has no row, so
  /// its messages get no arrow.
  void add_arrow(const Event& event) {
    const auto from = lanes_.find(event.peer);
    const auto to = lanes_.find(event.component);
    if (from == lanes_.end() || to == lanes_.end()) return;
    ++arrows_;
    arrow("\"s\"", from->second, event.begin_ns, event);
    arrow("\"f\",\"bp\":\"e\"", to->second, event.end_ns, event);
  }

  void arrow(const char* phase, std::pair<std::int32_t, std::size_t> lane, std::int64_t time_ns, const Event& event) {
    line(fmt::format(R"({{"ph":{},"id":{},"name":{},"cat":"hop","pid":{},"tid":{},"ts":{}}})", phase, arrows_,
                     json_text(event.name), lane.first, lane.second, microseconds(time_ns)));
  }

  void describe(const char* what, std::int32_t pid, std::size_t row, const std::string& name) {
    line(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, pid, row,
                     json_text(name)));
  }

  void line(const std::string& text) {
    if (any_) write_(",\n");
    any_ = true;
    write_(text);
  }

  std::string run_;
  const std::function<void(std::string_view)>& write_;
  std::map<Row, std::size_t> rows_;
  std::map<std::string_view, std::pair<std::int32_t, std::size_t>> lanes_;  ///< The row of each component.
  std::set<std::int32_t> named_;                                            ///< The processes that have a name.
  std::uint64_t arrows_ = 0;
  bool any_ = false;
};

}  // namespace

void write_chrome_trace(const std::deque<Event>& events, const std::string& run,
                        const std::function<void(std::string_view)>& write) {
  Writer writer(run, write);
  for (const Event& event : events) writer.add_row(event);
  for (const Event& event : events) writer.add(event);
  writer.finish();
}

}  // namespace trainyard::timeline
