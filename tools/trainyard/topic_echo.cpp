// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "messages/error.h"
#include "messages/json.h"
#include "messages/printable.h"
#include "messages/subscription.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/expression.h"
#include "tools/trainyard/field_path.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/topic_finder.h"
#include "tools/trainyard/topic_verbs.h"
#include "visitors/registry_client.h"
#include "visitors/watch.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

struct EchoArguments {
  RunChoice run;
  std::string topic;
  std::uint64_t count = 0;
  double timeout_s = 30;
  std::vector<std::string> fields;
  std::string where;
  bool as_json = false;
};

/// Returns a value as text: strings without quotes, and all other values as JSON.
std::string cell_of(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? printable_line(value.get<std::string>()) : value.dump();
}

/// Decides which messages are printed, and which of their fields.
class Display {
 public:
  /// Throws kInvalidArgument for a field that messages of this schema do not have.
  Display(const Schema& schema, const EchoArguments& arguments) : one_line_(arguments.as_json) {
    for (const std::string& field : arguments.fields) fields_.emplace_back(schema, field);
    if (!arguments.where.empty()) where_.emplace(schema, arguments.where);
  }

  /// Prints the message, unless it does not meet the condition. Returns true if it was printed.
  bool show(const visitors::Received& message) const {
    const Schema& schema = message.stream->schema;
    if (!where_ && fields_.empty()) return print(json_from_binary(schema, message.bytes(), one_line_ ? -1 : 2));
    const json decoded = json::parse(json_from_binary(schema, message.bytes()));
    if (where_ && !where_->holds_for(decoded)) return false;
    if (!fields_.empty()) return print(one_line_ ? object_of(decoded) : row_of(decoded));
    return print(json_from_binary(schema, message.bytes(), one_line_ ? -1 : 2));
  }

 private:
  std::string row_of(const json& message) const {
    std::string row;
    for (const FieldPath& field : fields_) {
      if (&field != &fields_.front()) row += '\t';
      row += cell_of(field.value_in(message));
    }
    return row;
  }

  std::string object_of(const json& message) const {
    nlohmann::ordered_json object;
    for (const FieldPath& field : fields_) object[field.text()] = field.value_in(message);
    return object.dump();
  }

  /// Prints one message. The output is flushed immediately, so that a program that reads it from a pipe sees each
  /// message when it arrives.
  bool print(const std::string& text) const {
    std::printf("%s%s\n", text.c_str(), one_line_ || !fields_.empty() ? "" : "\n---");
    std::fflush(stdout);
    return true;
  }

  bool one_line_;
  std::vector<FieldPath> fields_;
  std::optional<Expression> where_;
};

/// Checks the fields and the condition against the schema of the topic before subscribing. If the user gives neither,
/// the topic can be a pattern that matches several topics.
Display display_for(zmq::context_t& context, const visitors::RunInfo& run, const EchoArguments& arguments) {
  if (arguments.fields.empty() && arguments.where.empty()) return {{}, arguments};
  visitors::RegistryClient registry(context, run.registry);
  return {parse_schema(find_topic(registry, arguments.topic).value("schema", "")), arguments};
}

/// Prints messages as they arrive. The timeout applies to the next message that arrives, even if it is not printed.
int echo(const EchoArguments& arguments) {
  const std::chrono::milliseconds timeout(static_cast<std::int64_t>(arguments.timeout_s * 1000));
  zmq::context_t context;
  const visitors::RunInfo run = find_run(arguments.run);
  const Display display = display_for(context, run, arguments);
  visitors::Watch watch(context, run, {arguments.topic});
  std::uint64_t shown = 0;
  bool from_visitor = false;
  while (arguments.count == 0 || shown < arguments.count) {
    const auto message = watch.next(timeout);
    if (message) {
      from_visitor = message->header.source == kVisitorEdge;
      shown += display.show(*message) ? 1 : 0;
    } else if (watch.ended()) {
      if (watch.killed()) throw Error(Code::kPeerLost, "the run {} was killed", run.run);
      if (watch.cut_off()) {
        throw Error(Code::kPeerLost, "the run {} has ended, but a process of it was killed or has crashed", run.run);
      }
      // A topic that a visitor publishes can end while the run continues.
      const std::string why = from_visitor
                                  ? fmt::format("nobody publishes '{}' any longer", printable_line(arguments.topic))
                                  : "the run has ended";
      std::fprintf(stderr, "trainyard: %s\n", why.c_str());
      // If the user has requested a number of messages, fewer have arrived, which is a failure. Otherwise all messages
      // have been received.
      return arguments.count == 0 ? kExitOk : kExitNotFound;
    } else {
      throw Error(Code::kTimeout, "no message on '{}' for {} s", arguments.topic, arguments.timeout_s);
    }
  }
  return kExitOk;
}

constexpr const char* kEchoFooter =
    "Examples:\n"
    "  trainyard topic echo /metrics --field step --field values[0].value\n"
    "  trainyard topic echo /metrics --where 'step % 100 == 0 and stage == \"train\"'\n"
    "  trainyard topic echo /log --where 'level in [\"warning\", \"error\"]' --field text\n\n"
    "A condition consists of fields, numbers, \"texts\" and [lists] with\n"
    "  or and not   == != < <= > >= in   + - * / %   ( )\n"
    "`trainyard topic info TOPIC` shows the fields.";

}  // namespace

void add_topic_echo(CLI::App& family, Action& chosen) {
  const auto arguments = std::make_shared<EchoArguments>();
  CLI::App* verb = family.add_subcommand("echo", "Print messages; never slows the run (drops the oldest)");
  verb->footer(kEchoFooter);
  verb->add_option("TOPIC", arguments->topic, "as `trainyard topic list` names it")->required();
  arguments->run.add_to(*verb);
  verb->add_option("--field", arguments->fields,
                   "show only this field, such as values[0].value; if\n"
                   "repeated, print one tab-separated row per message")
      ->type_name("PATH")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--where", arguments->where, "show only messages that meet a condition, such as\n'step % 100 == 0'")
      ->type_name("CONDITION");
  verb->add_option("--count", arguments->count, "stop after this many messages (default: never)");
  verb->add_option("--timeout", arguments->timeout_s, "give up after this many seconds without a message (30)")
      ->check(CLI::Range(0.001, kLongestTimeout));
  verb->add_flag("--json", arguments->as_json, "print each message as one line of JSON");
  verb->callback([=, &chosen] { chosen = [=] { return echo(*arguments); }; });
}

}  // namespace trainyard::tools
