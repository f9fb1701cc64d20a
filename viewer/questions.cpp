// SPDX-License-Identifier: Apache-2.0
#include "viewer/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "messages/error.h"
#include "messages/nearest.h"
#include "viewer/clock.h"
#include "viewer/recorded_timeline.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

/// The arguments of a question. Each argument is checked when it is read; the text of an error contains its name.
class Arguments {
 public:
  explicit Arguments(const json& question) : question_(question) {}

  std::string text(const char* name, const std::string& otherwise = "") const {
    const json value = at(name);
    if (value.is_null()) return otherwise;
    if (!value.is_string()) wrong(name, "a text");
    return value.get<std::string>();
  }
  std::optional<double> number(const char* name) const {
    const json value = at(name);
    if (value.is_null()) return {};
    if (!value.is_number()) wrong(name, "a number");
    return value.get<double>();
  }
  std::optional<std::uint64_t> count(const char* name) const {
    const json value = at(name);
    if (value.is_null()) return {};
    if (!value.is_number_integer() || value < 0) wrong(name, "a whole number from 0 on");
    return value.get<std::uint64_t>();
  }
  std::size_t limit(const char* name, std::size_t otherwise, std::size_t most) const {
    const std::uint64_t given = count(name).value_or(otherwise);
    if (given < 1 || given > most) wrong(name, fmt::format("a number from 1 to {}", most));
    return given;
  }
  template <class E>
  E word(const char* name, E otherwise) const {
    const std::string given = text(name);
    return given.empty() ? otherwise : from_name<E>(given);
  }
  json at(const char* name) const { return question_.value(name, json()); }

 private:
  [[noreturn]] void wrong(const char* name, const std::string& allowed) const {
    std::string given = at(name).dump(-1, ' ', true, json::error_handler_t::replace);
    if (given.size() > 100) given = given.substr(0, 100) + "...";
    throw Error(Code::kInvalidArgument, "{}: {} is not allowed; allowed is {}", name, given, allowed);
  }

  const json& question_;
};

/// A question, and everything that is needed to answer it.
struct Call {
  Library& library;
  const Asker& asker;
  Arguments arguments;
  Answered answered;
  Refused refused;

  Library::Entry entry() const { return library.find(arguments.text("run")); }
  std::shared_ptr<Book> book() const { return entry().book; }
};

void runs(const Call& call) {
  json list = json::array();
  for (const Library::Entry& entry : call.library.all()) list.push_back(entry.book->read(&Shelves::summary));
  call.answered(std::move(list));
}

void series(const Call& call) {
  call.answered(call.book()->read([](const Shelves& run) { return run.curves.list(); }));
}

CurveRequest curve_request(const Arguments& arguments) {
  constexpr std::size_t kMaxPoints = 8000;
  CurveRequest request;
  request.axis = arguments.word("x", Axis::kStep);
  request.from = arguments.number("from");
  request.to = arguments.number("to");
  request.points = arguments.limit("points", 1000, kMaxPoints);
  request.smooth = arguments.number("smooth").value_or(0);
  if (!(request.smooth >= 0 && request.smooth < 1)) {
    throw Error(Code::kInvalidArgument, "smooth: {} is not allowed; allowed is a number from 0 to below 1",
                request.smooth);
  }
  return request;
}

// Computes a curve. The book is locked only during the computation, and not while the JSON is made.
void curve(const Call& call) {
  CurveRequest request = curve_request(call.arguments);
  const std::string stage = call.arguments.text("stage"), name = call.arguments.text("name");
  const Curve curve = call.book()->read([&](const Shelves& run) {
    if (const std::int64_t ns = run.identity.started_ns) request.zero_time = static_cast<double>(ns) / 1e9;
    return run.curves.curve(stage, name, request);
  });
  call.answered(json_of(curve));
}

void log(const Call& call) {
  LogRequest request;
  request.before = call.arguments.count("before");
  request.limit = call.arguments.limit("limit", 200, 1000);
  request.level = call.arguments.word("level", LogLevel::kTrace);
  request.component = call.arguments.text("component");
  request.text = call.arguments.text("text");
  call.answered(call.book()->read([&](const Shelves& run) { return run.log.find(request); }));
}

void samples(const Call& call) {
  const auto before = call.arguments.count("before");
  const std::size_t limit = call.arguments.limit("limit", 20, 200);
  call.answered(call.book()->read([&](const Shelves& run) { return run.samples.list(before, limit); }));
}

void histograms(const Call& call) {
  call.answered(call.book()->read([](const Shelves& run) { return run.histograms.list(); }));
}

void histogram(const Call& call) {
  constexpr std::size_t kMaxBuckets = 256;
  const HistogramOf of = call.arguments.word("of", HistogramOf::kWeights);
  const std::string name = call.arguments.text("name");
  const std::size_t buckets = call.arguments.limit("buckets", 64, kMaxBuckets);
  call.answered(call.book()->read([&](const Shelves& run) { return run.histograms.series(of, name, buckets); }));
}

void confusion(const Call& call) {
  const std::string split = call.arguments.text("split");
  const auto step = call.arguments.count("step");
  call.answered(call.book()->read([&](const Shelves& run) { return run.confusion.matrix(split, step); }));
}

void changes(const Call& call) {
  call.answered(call.book()->read([](const Shelves& run) { return run.changes.list(); }));
}

void alerts(const Call& call) {
  call.answered(call.book()->read([](const Shelves& run) { return run.alerts.list(); }));
}

void graph(const Call& call) {
  json graph = call.book()->read([](const Shelves& run) { return run.graph.look(); });
  if (graph.is_null()) {
    throw Error(Code::kNotFound, "nothing is known of the components of '{}'", call.arguments.text("run"));
  }
  call.answered(std::move(graph));
}

void hyperparameters(const Call& call) { call.answered(call.book()->read(&Shelves::hyperparameters)); }

/// Passes a question on to the run. `ask` is called on the follower's thread for errands, and its result is the answer.
void ask_run(const Call& call, std::function<json(visitors::RegistryClient&, Book&)> ask) {
  const Library::Entry entry = call.entry();
  if (!entry.follower || entry.follower->over()) {
    throw Error(Code::kUnsupported, "the run '{}' is not running", call.arguments.text("run"));
  }
  const bool queued = entry.follower->post(
      [book = entry.book, ask = std::move(ask), answered = call.answered, refused = call.refused](auto& registry) {
        try {
          answered(ask(registry, *book));
        } catch (const Error& error) {
          refused(error);
        } catch (const std::exception& error) {
          refused(Error(Code::kInternal, std::string(error.what())));
        }
      });
  if (!queued)
    throw Error(Code::kUnsupported, "too many requests to the run '{}' wait; try again later",
                call.arguments.text("run"));
}

/// Returns the name under which the parameters of a component are set. A component that exists for each rank is named
/// without its rank, since the parameters of all ranks are set together. So the name is returned for rank 0, and an
/// empty text for the other ranks.
std::string name_for_all_ranks(const std::string& component) {
  const std::size_t slash = component.find('/');
  if (!component.starts_with("rank") || slash == std::string::npos) return component;
  return component.starts_with("rank0/") ? component.substr(slash + 1) : "";
}

void parameters(const Call& call) {
  ask_run(call, [](visitors::RegistryClient& registry, Book&) {
    json list = json::array();
    for (const json& node : registry.ask("nodes")) {
      if (node.value("plugin", "").empty() || node.value("state", "") == "error") continue;
      const std::string name = name_for_all_ranks(node.value("component", ""));
      if (name.empty()) continue;
      list.push_back({{"component", name}, {"parameters", registry.call(name, "param.list")}});
    }
    return list;
  });
}

/// Records a timeline. This takes as long as the recorded time, so it is done as an errand.
void timeline(const Call& call) {
  const std::chrono::milliseconds length(call.arguments.limit("ms", 500, 5000));
  const visitors::RunInfo run = call.entry().follower ? call.entry().follower->run() : visitors::RunInfo{};
  ask_run(call, [run, length](visitors::RegistryClient&, Book&) { return record_timeline(run, length); });
}

void require_control(const Call& call) {
  if (call.asker.role == web::Role::kControl) return;
  throw Error(Code::kInvalidArgument,
              std::string("this page may only watch; open the address with the token for control to change the run"));
}

/// Adds a change to the book, and appends it as a line of JSON to `changes.jsonl` in the output directory.
void keep(Book& book, Change change) {
  std::ofstream(book.read(&Shelves::identity).directory + "/changes.jsonl", std::ios::app)
      << json_of(change).dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
  book.add(std::move(change));
}

void set_parameter(const Call& call) {
  require_control(call);
  const std::string component = call.arguments.text("component"), name = call.arguments.text("name");
  const json value = call.arguments.at("value");
  ask_run(call, [=, who = call.asker.name](visitors::RegistryClient& registry, Book& book) {
    const json before = registry.call(component, "param.get", {{"name", name}});
    json after = registry.call(component, "param.set", {{"name", name}, {"value", value}});
    keep(book, {now_ns(), book.read(&Shelves::step), component, name, before.value("value", json()),
                after.value("value", json()), who});
    return after;
  });
}

void act(const Call& call) {
  require_control(call);
  const std::string action = call.arguments.text("action");
  const std::vector<std::string> known{"checkpoint", "validate", "pause", "go_on", "stop"};
  if (std::ranges::find(known, action) == known.end()) {
    throw Error(Code::kInvalidArgument, "there is no action '{}'{}", action, suggestion(action, known));
  }
  ask_run(call, [action, who = call.asker.name](visitors::RegistryClient& registry, Book& book) {
    json body = json::object();
    if (action == "stop") body["reason"] = "stopped by " + who;
    json answer = registry.call("strategy_manager", action, body);
    if (action == "pause") book.set_phase(RunPhase::kPaused);
    if (action == "go_on") book.set_phase(RunPhase::kRunning);
    keep(book, {now_ns(), book.read(&Shelves::step), "strategy_manager", action, {}, {}, who});
    return answer;
  });
}

const std::map<std::string, void (*)(const Call&)>& operations() {
  static const std::map<std::string, void (*)(const Call&)> all{{"runs", runs},
                                                                {"series", series},
                                                                {"curve", curve},
                                                                {"log", log},
                                                                {"samples", samples},
                                                                {"changes", changes},
                                                                {"alerts", alerts},
                                                                {"graph", graph},
                                                                {"hyperparameters", hyperparameters},
                                                                {"act", act},
                                                                {"parameters", parameters},
                                                                {"set_parameter", set_parameter},
                                                                {"histograms", histograms},
                                                                {"histogram", histogram},
                                                                {"confusion", confusion},
                                                                {"timeline", timeline}};
  return all;
}

}  // namespace

void answer_question(Library& library, const Asker& asker, const json& question, const Answered& answered,
                     const Refused& refused) {
  const Call call{library, asker, Arguments(question), answered, refused};
  const std::string op = call.arguments.text("op");
  const auto found = operations().find(op);
  if (found != operations().end()) return found->second(call);
  std::vector<std::string> known{"hello", "watch"};
  for (const auto& [name, function] : operations()) known.push_back(name);
  throw Error(Code::kNotFound, "there is no question '{}'{}", op, suggestion(op, known));
}

}  // namespace trainyard::viewer
