// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "launch/run/run_directory.h"
#include "messages/error.h"
#include "messages/printable.h"
#include "recordings/mcap_reader.h"
#include "recordings/message_text.h"
#include "recordings/recording.h"
#include "tools/trainyard/bag.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/interrupts.h"
#include "tools/trainyard/played_gateway.h"
#include "tools/trainyard/played_registry.h"

namespace trainyard::tools {

using namespace recordings;

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// A topic with at most this number of messages probably describes something, such as the model. Programs that
/// subscribe later therefore receive its last message, as they would from a latched output.
constexpr std::uint64_t kRareMessages = 10;
/// The largest index of a component that is accepted from a recording, which may be damaged.
constexpr std::uint32_t kMostComponents = 10'000;

std::string text_of(const ChannelRecord& channel, const char* key) {
  const auto found = channel.metadata.find(key);
  return found == channel.metadata.end() ? std::string() : found->second;
}

/// A component that never runs. The gateways need it as the owner of the outputs that describe their topics.
class Stage final : public Component {
 public:
  explicit Stage(ComponentContext& context) : Component(context) {}
};

ComponentContext context_with(core::EventLoop& loop) {
  ComponentContext context;
  context.where = "the played recording";
  context.parameters = "{}";
  context.name = "recording";
  context.loop = &loop;
  return context;
}

/// Plays one recording: a run directory with a registry, and one gateway for each process of the recorded run.
class Player {
 public:
  Player(const McapReader& reader, const BagArguments& arguments)
      : reader_(reader),
        arguments_(arguments),
        name_(recorded_name()),
        context_(context_with(loop_)),
        stage_(context_),
        directory_(visitors::runs_directory(), launch::run_name(name_, ::getpid())),
        registry_(sockets_, directory_.endpoint("registry"), [this](const std::string& op) { return describe(op); }) {
    for (const auto& [id, channel] : reader.contents().channels) add(channel);
    if (types_.empty()) throw Error(Code::kNotFound, "{} has no messages that can be played", reader.file().path());
    loop_.add(registry_);
    loop_.add(registry_.connections());
    directory_.announce(name_, reader.file().path(), registry_.endpoint());
  }
  ~Player() {
    loop_.remove(registry_.connections());
    loop_.remove(registry_);
  }

  const std::string& run() const { return directory_.run(); }

  /// Waits until a program has subscribed. Returns false if the user has pressed Ctrl-C.
  bool wait_for_visitor(const Interrupts& interrupts) {
    const auto present = [this] {
      return std::ranges::any_of(gateways_, [](const auto& gateway) { return gateway.second->has_visitors(); });
    };
    while (!present()) {
      serve(Clock::now() + std::chrono::milliseconds(100));
      if (interrupts.came()) return false;
    }
    return true;
  }

  /// Publishes all messages once. Returns false if the user has pressed Ctrl-C.
  bool play(const Interrupts& interrupts) {
    const std::uint64_t first =
        reader_.contents().statistics.start_time + static_cast<std::uint64_t>(std::max(0.0, arguments_.start_s) * 1e9);
    MessageStream stream(reader_, {[this](const ChannelRecord& channel) { return plays(channel); }, first});
    const Clock::time_point begin = Clock::now();
    while (const auto message = stream.next()) {
      const double seconds = static_cast<double>(message->record.log_time - first) / 1e9;
      const double scaled = arguments_.rate == 0 ? 0 : seconds / arguments_.rate;
      if (!wait_until(begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(scaled)),
                      interrupts)) {
        return false;
      }
      publish(*message);
    }
    return true;
  }

  /// Tells the subscribers that no more messages follow, and waits for a moment until all messages have been sent.
  void finish() {
    for (const auto& [process, gateway] : gateways_) gateway->finish();
    const auto until = Clock::now() + std::chrono::seconds(2);
    const auto delivered = [this] {
      return std::ranges::all_of(gateways_, [](const auto& gateway) { return gateway.second->delivered(); });
    };
    while (!delivered() && Clock::now() < until) serve(Clock::now() + std::chrono::milliseconds(5));
  }

  std::uint64_t published() const { return published_; }

 private:
  /// Returns the name of the recorded run, or the name of the file if the recording does not contain it.
  std::string recorded_name() const {
    const TextMap* run = reader_.contents().find_metadata(kRunMetadata);
    if (run != nullptr && run->contains("name")) return run->at("name");
    return std::filesystem::path(reader_.file().path()).stem().string();
  }

  bool plays(const ChannelRecord& channel) const { return played_.contains(channel.id); }

  void add(const ChannelRecord& channel) {
    const std::string schema_text = text_of(channel, kSchemaKey);
    // Only recordings by Trainyard contain the schemas that are needed to convert the messages to their binary form.
    if (channel.encoding != "json" || schema_text.empty()) return;
    if (!matches_any(arguments_.topics, channel.topic)) return;
    const Schema schema = parse_schema(schema_text);
    const auto known = types_.find(channel.topic);
    if (known != types_.end() && known->second->schema_text != schema_text) {
      throw Error(Code::kUnsupported, "the topic '{}' has messages of two types", channel.topic);
    }
    if (known == types_.end()) {
      all_types_.push_back(played_type(schema_text));
      types_[channel.topic] = &all_types_.back();
      schemas_[channel.topic] = schema;
    }
    const std::string process = process_of(channel);
    auto& gateway = gateways_[process];
    if (gateway == nullptr) {
      gateway = std::make_unique<PlayedGateway>(stage_, sockets_,
                                                directory_.endpoint(fmt::format("gateway{}", gateways_.size())));
    }
    if (publishers_[channel.topic].insert(process).second) {
      gateway->add_topic(channel.topic, *types_[channel.topic], messages_on(channel.topic) <= kRareMessages);
    }
    played_[channel.id] = source_of(channel);
    const std::string component = text_of(channel, kComponentKey);
    if (!component.empty()) components_[played_[channel.id]] = {component, process};
  }

  static std::string process_of(const ChannelRecord& channel) {
    const std::string process = text_of(channel, kProcessKey);
    return process.empty() ? "recording" : process;
  }

  static std::uint32_t source_of(const ChannelRecord& channel) {
    const std::string text = text_of(channel, kSourceKey);
    std::uint32_t source = 0;
    std::from_chars(text.data(), text.data() + text.size(), source);
    return std::min(source, kMostComponents);
  }

  std::uint64_t messages_on(const std::string& topic) const {
    std::uint64_t messages = 0;
    for (const auto& [id, count] : reader_.contents().statistics.channel_messages) {
      const auto channel = reader_.contents().channels.find(id);
      if (channel != reader_.contents().channels.end() && channel->second.topic == topic) messages += count;
    }
    return messages;
  }

  void publish(const StreamedMessage& message) {
    const std::string& topic = message.channel.topic;
    RestoredMessage restored = restore_message(schemas_.at(topic), message.record.data);
    auto played = std::make_shared<PlayedMessage>();
    played->body = std::move(restored.body);
    for (const std::string& payload : restored.payloads) {
      played->payloads.push_back(Buffer::heap(payload.size()));
      std::ranges::copy(payload, reinterpret_cast<char*>(played->payloads.back().data()));
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    gateways_.at(process_of(message.channel))
        ->publish(topic, {.message = std::move(played),
                          .sequence = message.record.sequence,
                          .send_time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                          .trace = restored.trace,
                          .source = played_.at(message.channel.id)});
    ++published_;
  }

  bool wait_until(Clock::time_point due, const Interrupts& interrupts) {
    constexpr std::chrono::milliseconds kLook{100};
    do {
      serve(std::min(due, Clock::now() + kLook));
      if (interrupts.came()) return false;
    } while (Clock::now() < due);
    return true;
  }

  /// Serves subscribers until the time `until`, and at least once.
  void serve(Clock::time_point until) {
    do {
      if (loop_.run_once()) continue;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      if (left.count() > 0) loop_.wait(left);
    } while (Clock::now() < until);
  }

  json describe(const std::string& op) const {
    if (op == "run") return describe_run();
    return op == "topics" ? describe_topics() : describe_nodes();
  }

  json describe_run() const {
    json processes = json::array();
    for (const auto& [process, gateway] : gateways_) {
      processes.push_back({{"process", process}, {"pid", ::getpid()}, {"program", false}});
    }
    return {{"run", run()},
            {"name", name_},
            {"file", reader_.file().path()},
            {"pid", ::getpid()},
            {"directory", directory_.path()},
            {"output_directory", ""},
            {"seed", 0},
            {"world_size", 1},
            {"version", TRAINYARD_VERSION},
            {"recording", true},
            {"processes", processes}};
  }

  json describe_topics() const {
    json topics = json::array();
    for (const auto& [topic, type] : types_) {
      json publishers = json::array();
      for (const auto& [id, channel] : reader_.contents().channels) {
        if (channel.topic != topic || !plays(channel)) continue;
        const std::string process = process_of(channel);
        publishers.push_back({{"component", text_of(channel, kComponentKey)},
                              {"process", process},
                              {"endpoint", gateways_.at(process)->endpoint()}});
      }
      topics.push_back({{"topic", topic},
                        {"type", type->name},
                        {"fingerprint", fmt::format("{:016x}", type->fingerprint)},
                        {"schema", type->schema_text},
                        {"publishers", publishers},
                        {"subscribers", json::array()}});
    }
    return topics;
  }

  /// Returns the components in a list in which each has the index that it had in the plan, because the headers of
  /// messages (Header::source) refer to components by this index.
  json describe_nodes() const {
    json nodes = json::array();
    const std::uint32_t count = components_.empty() ? 0 : components_.rbegin()->first + 1;
    for (std::uint32_t index = 0; index < count; ++index) {
      const auto component = components_.find(index);
      const bool known = component != components_.end();
      json outputs = json::array();
      for (const auto& [id, channel] : reader_.contents().channels) {
        if (!known || !plays(channel) || text_of(channel, kComponentKey) != component->second.first) continue;
        outputs.push_back(
            {{"port", channel.topic}, {"topic", channel.topic}, {"type", types_.at(channel.topic)->name}});
      }
      nodes.push_back({{"component", known ? component->second.first : fmt::format("component{}", index)},
                       {"plugin", ""},
                       {"process", known ? component->second.second : ""},
                       {"pid", ::getpid()},
                       {"state", known ? "recorded" : "unknown"},
                       {"inputs", json::array()},
                       {"outputs", outputs},
                       {"services", json::array()}});
    }
    return nodes;
  }

  const McapReader& reader_;
  const BagArguments& arguments_;
  std::string name_;
  core::EventLoop loop_{"play"};
  ComponentContext context_;
  Stage stage_;
  launch::RunDirectory directory_;
  zmq::context_t sockets_;
  PlayedRegistry registry_;
  /// A deque, because pointers refer to the elements.
  std::deque<MessageType> all_types_;
  std::map<std::string, const MessageType*> types_;          ///< The message types, by topic.
  std::map<std::string, Schema> schemas_;                    ///< The schemas, by topic.
  std::map<std::string, std::set<std::string>> publishers_;  ///< The processes that publish each topic.
  std::map<std::uint16_t, std::uint32_t> played_;            ///< The sources of the messages, by channel id.
  std::map<std::uint32_t, std::pair<std::string, std::string>> components_;  ///< The name and the process, by source.
  std::map<std::string, std::unique_ptr<PlayedGateway>> gateways_;           ///< The gateways, by process.
  std::uint64_t published_ = 0;
};

}  // namespace

int bag_play(const BagArguments& arguments) {
  const Interrupts interrupts;
  const McapReader reader(arguments.path);
  if (!reader.problem().empty()) fmt::print(stderr, "trainyard: INCOMPLETE: {}\n", printable_line(reader.problem()));
  Player player(reader, arguments);
  fmt::print(stderr, "playing {} as run {}; Ctrl-C ends it\n", printable_line(arguments.path), player.run());
  bool more = !arguments.wait || player.wait_for_visitor(interrupts);
  if (more) more = player.play(interrupts);
  // If the recording contains no selected messages, there is nothing to repeat.
  while (more && arguments.loop && player.published() != 0) more = player.play(interrupts);
  player.finish();
  fmt::print("{} message(s) published\n", player.published());
  return kExitOk;
}

}  // namespace trainyard::tools
