// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/bridge.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>
#include <zmq.hpp>

#include "components/foxglove/client.h"
#include "components/foxglove/parameters.h"
#include "components/foxglove/protocol.h"
#include "components/foxglove/topic_feed.h"
#include "core/loop/quiet_thread.h"
#include "messages/error.h"
#include "messages/json.h"

namespace trainyard::foxglove {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// The longest wait for messages of the run. Afterwards, new subscriptions of clients are handled.
constexpr milliseconds kLongestWait = 50ms;
constexpr milliseconds kBetweenTimes = 100ms;
constexpr milliseconds kBetweenLooks = 1s;
constexpr milliseconds kBetweenParameters = 2s;
/// If the registry has not answered after this time, it will not answer any more.
constexpr milliseconds kLongestAnswer = 12s;
constexpr int kMostInARow = 1000;

std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Returns true once in each interval.
bool is_due(Clock::time_point& next, milliseconds interval) {
  if (Clock::now() < next) return false;
  next = Clock::now() + interval;
  return true;
}

}  // namespace

/// The work of the thread until an error occurs. The thread then makes a new Session.
class Bridge::Session {
 public:
  Session(Bridge& bridge, zmq::context_t& context)
      : bridge_(bridge), registry_(context, bridge.run_.registry), feed_(context) {}

  void run() {
    while (!bridge_.stop_) {
      follow();
      listen();
      look();
      if (is_due(next_time_, kBetweenTimes)) {
        bridge_.clients_.tell_time(static_cast<std::uint64_t>(wall_clock_ns()));
      }
      if (is_due(next_parameters_, kBetweenParameters)) read_parameters_again();
    }
  }

 private:
  // Listens to the topics that clients want. `since_ns_` records since when. A message that was sent before must be the
  // last message of a latched topic, which publishers repeat for every new subscriber.
  void follow() {
    std::set<std::string> wanted = bridge_.clients_.wanted_topics();
    std::erase_if(since_ns_, [&](const auto& entry) { return !wanted.contains(entry.first); });
    for (const std::string& topic : wanted) since_ns_.try_emplace(topic, wall_clock_ns());
    feed_.follow(wanted);
  }

  void listen() {
    for (int i = 0; i < kMostInARow; ++i) {
      const auto message = feed_.next(i == 0 ? kLongestWait : 0ms);
      if (!message) return;
      publish(*message);
    }
  }

  void publish(const visitors::Received& message) {
    News news{.topic = message.stream->topic,
              .sender = fmt::format("{} {}", *message.endpoint, message.header.source),
              .time_ns = static_cast<std::uint64_t>(message.header.send_time_ns)};
    news.latched = message.header.send_time_ns < since_ns_[news.topic];
    try {
      news.json = json_from_binary(message.stream->schema, message.bytes());
    } catch (const Error&) {
      return;  // The message does not match its schema, which is an error of the sender.
    }
    bridge_.clients_.publish(std::move(news));
  }

  // Sends questions to the registry, and takes the answers when they have arrived, without waiting. So a slow launcher
  // does not delay messages.
  void look() {
    if (!topics_question_ && !nodes_question_ && is_due(next_look_, kBetweenLooks)) {
      topics_question_ = registry_.post({{"op", "topics"}});
      give_up_ = Clock::now() + kLongestAnswer;
    }
    if (topics_question_) {
      auto topics = registry_.answer(*topics_question_, 0ms);
      if (!topics) return check_patience();
      topics_ = *std::move(topics);
      feed_.locate(topics_);
      topics_question_.reset();
      nodes_question_ = registry_.post({{"op", "nodes"}});
    } else if (nodes_question_) {
      const auto nodes = registry_.answer(*nodes_question_, 0ms);
      if (!nodes) return check_patience();
      nodes_question_.reset();
      bridge_.clients_.set_offer(offers_.make(topics_, *nodes));
    }
  }

  void check_patience() {
    if (Clock::now() < give_up_) return;
    topics_question_.reset();
    nodes_question_.reset();
  }

  // Reads the parameters at regular intervals, because the run does not announce changes.
  void read_parameters_again() {
    if (!bridge_.clients_.parameters_wanted() || bridge_.reading_parameters_.exchange(true)) return;
    try {
      bridge_.errands_.post([&bridge = bridge_](visitors::RegistryClient& registry) {
        try {
          const json now = read_parameters(registry, bridge.clients_.parameter_owners(), {}).values;
          bridge.clients_.tell_parameters(now, /*just_set=*/false);
        } catch (const Error&) {
          // The parameters are read again soon.
        }
        bridge.reading_parameters_ = false;
      });
    } catch (const Error&) {
      bridge_.reading_parameters_ = false;  // Too many requests are waiting already.
    }
  }

  Bridge& bridge_;
  visitors::RegistryClient registry_;
  TopicFeed feed_;
  OfferMaker offers_;
  json topics_;
  std::map<std::string, std::int64_t> since_ns_;  ///< When this session began to listen to each topic.
  std::optional<std::uint64_t> topics_question_, nodes_question_;
  Clock::time_point give_up_{}, next_look_{}, next_time_{}, next_parameters_{};
};

Bridge::Bridge(visitors::RunInfo run, std::function<void(const std::string&)> complain)
    : run_(std::move(run)),
      complain_(std::move(complain)),
      session_(fmt::format("{} {}", run_.run, wall_clock_ns())),
      errands_(run_.registry) {
  thread_ = core::quiet_thread("foxglove", [this] {
    core::lower_priority();
    this->run();
  });
}

Bridge::~Bridge() {
  stop_ = true;
  thread_.join();
}

std::unique_ptr<web::ChannelHandler> Bridge::open(web::Channel& channel) {
  const bool may_change = channel.role() == web::Role::kControl;
  return std::make_unique<Client>(channel, clients_, errands_,
                                  server_info("Trainyard: " + run_.run, may_change, session_));
}

void Bridge::run() {
  std::string complaint;
  while (!stop_) {
    try {
      zmq::context_t context;
      Session(*this, context).run();
    } catch (const std::exception& error) {
      if (visitors::is_alive(run_) && std::exchange(complaint, error.what()) != error.what()) complain_(complaint);
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }
}

}  // namespace trainyard::foxglove
