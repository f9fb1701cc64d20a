// SPDX-License-Identifier: Apache-2.0
#include "viewer/recorded_timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "messages/error.h"
#include "messages/message_type.h"
#include "timeline/batch_path.h"
#include "visitors/watch.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using timeline::Event;

/// Identifies a row of the picture: the process, the component, whether the row shows the steps of a rank, and the
/// thread. The steps have a separate row, because they contain the time between handlers.
using Row = std::tuple<std::string_view, std::string_view, bool, std::uint32_t>;

Row row_of(const Event& event) {
  return {event.process, event.component, event.kind == SpanKind::kStep, event.own_thread};
}

json json_of(const Row& row, std::string_view thread) {
  const auto& [process, component, steps, own_thread] = row;
  return {
      {"process", process}, {"component", component}, {"thread", thread}, {"own_thread", own_thread}, {"steps", steps}};
}

/// The lists of the answer, each with one element for each span. As JSON, they have a fifth of the size of a list of
/// objects.
class Lists {
 public:
  void add(const Event& event, std::int64_t begin_ns) {
    const auto [batch_rank, batch] = timeline::batch_of(event.trace);
    lists_["row"].push_back(rows_.at(row_of(event)));
    lists_["kind"].push_back(name_of(event.kind));
    lists_["text"].push_back(index_of(event.kind == SpanKind::kStep ? "step" : words_for(event)));
    lists_["peer"].push_back(index_of(std::string(event.peer)));
    lists_["begin_ns"].push_back(event.begin_ns - begin_ns);
    lists_["ns"].push_back(event.length_ns());
    lists_["step"].push_back(event.step);
    // The parts of the trace are sent separately, because a trace has 64 bits and JavaScript represents only 53 bits of
    // a number exactly.
    lists_["batch"].push_back(event.trace == 0 ? json() : json(batch));
    lists_["rank"].push_back(batch_rank);
  }

  /// Numbers the rows in the order in which they are shown: by process, with the steps of a rank above its accelerator
  /// host.
  void set_rows(const std::map<Row, std::string_view>& threads) {
    for (const auto& [row, thread] : threads) {
      rows_.emplace(row, rows_.size());
      row_list_.push_back(json_of(row, thread));
    }
  }

  json take() && {
    return {{"rows", std::move(row_list_)}, {"texts", std::move(texts_)}, {"spans", std::move(lists_)}};
  }

 private:
  std::size_t index_of(const std::string& text) {
    const auto [entry, added] = indices_.emplace(text, indices_.size());
    if (added) texts_.push_back(text);
    return entry->second;
  }

  std::map<Row, std::size_t> rows_;
  std::map<std::string, std::size_t> indices_;
  json row_list_ = json::array(), texts_ = json::array();
  json lists_ = {{"row", json::array()},      {"kind", json::array()}, {"text", json::array()},
                 {"peer", json::array()},     {"ns", json::array()},   {"step", json::array()},
                 {"begin_ns", json::array()}, {"rank", json::array()}, {"batch", json::array()}};
};

void take(const visitors::Received& message, timeline::Timeline& timeline) {
  if (message.stream->fingerprint != message_type<Spans>().fingerprint) {
    throw Error(
        Code::kUnsupported,
        "the spans of this run are those of another version of Trainyard: their type has the fingerprint {:016x}, and "
        "this version knows {:016x}",
        message.stream->fingerprint, message_type<Spans>().fingerprint);
  }
  Spans spans;
  decode(spans, message.bytes());
  timeline.add(spans);
}

}  // namespace

json json_of(const timeline::Timeline& timeline) {
  std::map<Row, std::string_view> threads;
  std::int64_t begin_ns = timeline.events().empty() ? 0 : timeline.events().front().begin_ns, end_ns = 0;
  for (const Event& event : timeline.events()) {
    threads.emplace(row_of(event), event.thread);
    begin_ns = std::min(begin_ns, event.begin_ns);
    end_ns = std::max(end_ns, event.end_ns);
  }
  Lists lists;
  lists.set_rows(threads);
  for (const Event& event : timeline.events()) lists.add(event, begin_ns);
  json all = std::move(lists).take();
  all["length_ns"] = std::max<std::int64_t>(end_ns - begin_ns, 0);
  all["lost"] = timeline.lost() + timeline.dropped();
  return all;
}

json record_timeline(const visitors::RunInfo& run, std::chrono::milliseconds length) {
  zmq::context_t sockets;
  visitors::Watch watch(sockets, run, {kSpansTopic}, {.window_messages = 1024, .window_bytes = 64ull << 20});
  timeline::Timeline timeline(kMostSpansOfAnswer);
  // The time to record begins when every process records spans. Processes begin shortly after the subscription.
  const auto latest = Clock::now() + std::chrono::seconds(2);
  while (!watch.subscribed() && !watch.ended() && Clock::now() < latest) {
    if (const auto message = watch.next(std::chrono::milliseconds(10))) take(*message, timeline);
  }
  const auto until = Clock::now() + length;
  for (auto now = Clock::now(); now < until && !watch.ended(); now = Clock::now()) {
    const auto message = watch.next(std::chrono::ceil<std::chrono::milliseconds>(until - now));
    if (message) take(*message, timeline);
  }
  return json_of(timeline);
}

}  // namespace trainyard::viewer
