// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "core/config/bounded_json.h"
#include "core/files/regular_file.h"
#include "messages/error.h"
#include "messages/json.h"
#include "messages/limits.h"
#include "messages/printable.h"
#include "messages/subscription.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/inferred_schema.h"
#include "tools/trainyard/interrupts.h"
#include "tools/trainyard/played_gateway.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/topic_finder.h"
#include "tools/trainyard/topic_verbs.h"
#include "visitors/door.h"
#include "visitors/registry_client.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The announcement of the topic expires after some seconds, so it is renewed well before that.
constexpr milliseconds kBetweenAnnouncements = 2s;
constexpr milliseconds kAnswerDeadline = 12s;
/// How often the loop checks whether the user has pressed Ctrl-C or the run has ended.
constexpr milliseconds kLook = 100ms;
constexpr milliseconds kLongestFarewell = 2s;

struct PubArguments {
  RunChoice run;
  std::string topic, message, schema_file, like;
  double rate_hz = 0;
  std::uint64_t count = 0;  ///< The number of messages. 0 means one message, or, if a rate is given, no limit.
  double timeout_s = 30;
};

/// A component that never runs. The gateway needs it as the owner of the output that describes the topic.
class Announcer final : public Component {
 public:
  explicit Announcer(ComponentContext& context) : Component(context) {}
};

ComponentContext publisher_context(core::EventLoop& loop) {
  ComponentContext context;
  context.where = "trainyard topic pub";
  context.parameters = "{}";
  context.name = "publisher";
  context.loop = &loop;
  return context;
}

std::string content_of(const std::string& path) {
  core::require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Code::kIo, "cannot read {}", path);
  // One byte more than the limit is read, to detect a file that is too large.
  std::string text(kMaxSchemaBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// Returns the schema of the messages: from a file, from another topic, or derived from the message itself.
Schema schema_for(visitors::RegistryClient& registry, const PubArguments& arguments) {
  if (!arguments.schema_file.empty()) {
    try {
      return parse_schema(content_of(arguments.schema_file));
    } catch (const Error& error) {
      if (error.code() != Code::kCorrupt) throw;
      throw Error(Code::kInvalidArgument, "{} is not a schema: {}", arguments.schema_file, error.what());
    }
  }
  if (!arguments.like.empty()) return parse_schema(find_topic(registry, arguments.like).value("schema", ""));
  const auto checked = parse_bounded_json(arguments.message);
  if (!checked || !checked->is_object()) {
    throw Error(Code::kInvalidArgument, R"(the message is not a JSON object, such as {{"text": "hello"}}: {})",
                printable_line(arguments.message.substr(0, 100)));
  }
  return infer_schema(nlohmann::ordered_json::parse(arguments.message), type_name_of(arguments.topic));
}

/// Publishes one topic in a running launch, at a separate socket, which is announced to the launcher's registry.
class Publisher {
 public:
  Publisher(visitors::RunInfo run, const PubArguments& arguments, const Interrupts& interrupts)
      : run_(std::move(run)),
        arguments_(arguments),
        interrupts_(interrupts),
        registry_(sockets_, run_.registry),
        topic_(arguments.topic.starts_with('/') ? arguments.topic : "/" + arguments.topic),
        schema_(schema_for(registry_, arguments)),
        type_(played_type(to_text(schema_))),
        message_(std::make_shared<PlayedMessage>(PlayedMessage{binary_from_json(schema_, arguments.message), {}})),
        context_(publisher_context(loop_)),
        owner_(context_),
        gateway_(owner_, sockets_, fmt::format("ipc://{}/pub-{}", run_.directory, ::getpid())) {
    // Subscribers that come later receive the last message.
    gateway_.add_topic(topic_, type_, /*latched=*/true);
    announce();
    if (registry_.answer(question_, kAnswerDeadline)) return;
    throw Error(Code::kTimeout, "the launcher did not answer within {} s; is it stopped?",
                std::chrono::duration_cast<std::chrono::seconds>(kAnswerDeadline).count());
  }

  const std::string& topic() const { return topic_; }
  std::uint64_t published() const { return published_; }

  /// Waits until a subscriber exists. Returns false if the user has pressed Ctrl-C or the run has ended. Throws
  /// kTimeout if none subscribes in time.
  bool wait_for_subscriber() {
    const auto until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(arguments_.timeout_s));
    while (!gateway_.has_visitors()) {
      if (Clock::now() > until) {
        throw Error(Code::kTimeout, "nobody has subscribed to '{}' for {} s", topic_, arguments_.timeout_s);
      }
      if (!serve(Clock::now() + kLook)) return false;
    }
    return true;
  }

  /// Publishes `count` messages, or messages without end if `count` is 0, with `interval` between them. Returns false
  /// if the user has pressed Ctrl-C or the run has ended.
  bool publish(std::uint64_t count, Clock::duration interval) {
    auto due = Clock::now();
    while (count == 0 || published_ < count) {
      publish_one();
      if (published_ == count) return true;
      due += interval;
      if (!serve(due)) return false;
    }
    return true;
  }

  /// Tells the subscribers that no more messages follow, waits for a moment until the messages have been sent, and
  /// removes the topic from the registry.
  void finish() {
    gateway_.finish();
    const auto until = Clock::now() + kLongestFarewell;
    while (!gateway_.delivered() && Clock::now() < until) turn(5ms);
    (void)registry_.answer(registry_.post({{"op", "withdraw"}, {"topic", topic_}, {"endpoint", gateway_.endpoint()}}),
                           1s);
  }

 private:
  void announce() {
    announced_ = Clock::now();
    question_ = registry_.post({{"op", "announce"},
                                {"topic", topic_},
                                {"schema", type_.schema_text},
                                {"endpoint", gateway_.endpoint()},
                                {"publisher", fmt::format("topic pub {}", ::getpid())},
                                {"latched", true}});
  }

  /// Renews the announcement. Throws if the previous announcement was refused: after an interruption, the topic may
  /// belong to another program.
  void renew() {
    (void)registry_.answer(question_, 0ms);
    announce();
  }

  void publish_one() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    gateway_.publish(topic_, {.message = message_,
                              .sequence = published_,
                              .send_time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                              .bytes = message_->body.size(),
                              .source = kVisitorEdge});
    ++published_;
  }

  /// Serves subscribers until the time `until`. Returns false if the user has pressed Ctrl-C or the run has ended.
  bool serve(Clock::time_point until) {
    do {
      turn(std::min(kLook, std::chrono::ceil<milliseconds>(until - Clock::now())));
      if (interrupts_.came() || !visitors::is_alive(run_)) return false;
      if (Clock::now() - announced_ >= kBetweenAnnouncements) renew();
    } while (Clock::now() < until);
    return true;
  }

  void turn(milliseconds limit) {
    if (!loop_.run_once() && limit > 0ms) loop_.wait(limit);
  }

  visitors::RunInfo run_;
  const PubArguments& arguments_;
  const Interrupts& interrupts_;
  zmq::context_t sockets_;
  visitors::RegistryClient registry_;
  std::string topic_;
  Schema schema_;
  MessageType type_;
  std::shared_ptr<const PlayedMessage> message_;
  core::EventLoop loop_{"publish"};
  ComponentContext context_;
  Announcer owner_;
  PlayedGateway gateway_;
  Clock::time_point announced_{};
  std::uint64_t question_ = 0;
  std::uint64_t published_ = 0;
};

int pub(const PubArguments& arguments) {
  const Interrupts interrupts;
  const visitors::RunInfo run = find_run(arguments.run);
  if (visitors::is_door(run.registry)) {
    throw Error(Code::kInvalidArgument, "the run at '{}' is on another host, and a visitor cannot publish topics there",
                run.registry);
  }
  Publisher publisher(run, arguments, interrupts);
  const std::uint64_t count = arguments.count == 0 && arguments.rate_hz == 0 ? 1 : arguments.count;
  const double seconds = arguments.rate_hz == 0 ? 1 : 1 / arguments.rate_hz;
  const auto interval = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::fprintf(stderr, "publishing %s in run %s\n", publisher.topic().c_str(), run.run.c_str());
  // If the user has given a number of messages, it means messages that a subscriber receives, so the command waits for
  // a subscriber first.
  const bool complete = (count == 0 || publisher.wait_for_subscriber()) && publisher.publish(count, interval);
  if (visitors::is_alive(run)) publisher.finish();
  std::printf("%llu message(s) published\n", static_cast<unsigned long long>(publisher.published()));
  if (complete) return kExitOk;
  if (visitors::is_alive(run)) return kExitInterrupted;
  std::fprintf(stderr, "trainyard: the run has ended\n");
  return count == 0 ? kExitOk : kExitNotFound;
}

constexpr const char* kPubFooter =
    "A run's own topics cannot be published, only topics that no component has.\n"
    "Without --schema and --like, the type of the messages is made from MESSAGE.\n"
    "Examples:\n"
    "  trainyard topic pub /note '{\"text\": \"new data from here on\"}'\n"
    "  trainyard topic pub /room '{\"temperature\": 21.5}' --rate 1\n"
    "  trainyard topic pub /my_metrics '{\"step\": 3}' --like /metrics --count 10";

}  // namespace

void add_topic_pub(CLI::App& family, Action& chosen) {
  const auto arguments = std::make_shared<PubArguments>();
  CLI::App* verb = family.add_subcommand("pub", "Publish messages on a topic of your own");
  verb->footer(kPubFooter);
  verb->add_option("TOPIC", arguments->topic, "a name that no component's topic has, such as /note")->required();
  verb->add_option("MESSAGE", arguments->message, "a JSON object")->required();
  arguments->run.add_to(*verb);
  verb->add_option("--rate", arguments->rate_hz, "repeat the message this many times per second\n(with --count: 1)")
      ->type_name("HZ")
      ->check(CLI::Range(0.001, 10'000.0));
  verb->add_option("--count", arguments->count, "stop after this many messages (1; with --rate: never)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  verb->add_option("--timeout", arguments->timeout_s,
                   "with --count, or without --rate: give up if nobody\nhas subscribed after this many seconds (30)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, kLongestTimeout));
  auto* schema =
      verb->add_option("--schema", arguments->schema_file, "a file with the schema of the messages")->type_name("FILE");
  verb->add_option("--like", arguments->like, "use the message type of this topic")
      ->type_name("TOPIC")
      ->excludes(schema);
  verb->callback([=, &chosen] { chosen = [=] { return pub(*arguments); }; });
}

}  // namespace trainyard::tools
