// SPDX-License-Identifier: Apache-2.0
#include "visitors/watch.h"

#include <fnmatch.h>

#include <algorithm>
#include <functional>

#include "messages/error.h"
#include "messages/limits.h"
#include "messages/nearest.h"
#include "messages/spans.h"
#include "visitors/door.h"

namespace trainyard::visitors {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// How often the registry is asked for missing addresses while a run is starting.
constexpr milliseconds kBetweenQuestions{50};
/// How often the registry is asked if a process cannot be reached. This is rarer, because a process that is started
/// again usually has its old address.
constexpr milliseconds kBetweenQuestionsAboutLost{1000};
/// How often the watch checks whether the launcher is alive. This is needed only if a run crashes; otherwise it
/// announces its end.
constexpr milliseconds kBetweenChecks{500};

bool matches(const std::string& pattern, const std::string& topic) {
  const auto equal = [&](const std::string& text) { return ::fnmatch(text.c_str(), topic.c_str(), 0) == 0; };
  return equal(pattern) || equal("/" + pattern);
}

}  // namespace

Watch::Watch(zmq::context_t& context, RunInfo run, const std::vector<std::string>& patterns, ListenOptions options)
    : context_(context), run_(std::move(run)), options_(std::move(options)), registry_(context, run_.registry) {
  const json topics = registry_.ask("topics");
  choose(topics, patterns);
  connect(topics);
}

void Watch::choose(const json& topics, const std::vector<std::string>& patterns) {
  std::vector<std::string> known;
  std::set<std::string> chosen;
  for (const json& topic : topics) known.push_back(topic.value("topic", ""));
  for (const std::string& pattern : patterns) {
    const std::size_t before = chosen.size();
    std::ranges::copy_if(known, std::inserter(chosen, chosen.end()),
                         [&](const std::string& topic) { return matches(pattern, topic); });
    const bool found = chosen.size() != before ||
                       std::ranges::any_of(chosen, [&](const std::string& topic) { return matches(pattern, topic); });
    if (!found) throw Error(Code::kNotFound, "no topic '{}'{}", pattern, suggestion(pattern, known));
  }
  if (patterns.empty()) {
    std::ranges::copy_if(known, std::inserter(chosen, chosen.end()), std::not_fn(is_topic_of_spans));
  }
  for (const std::string& topic : chosen) {
    streams_.emplace_back();
    streams_.back().topic = topic;
  }
}

// Several publishers of one process share a gateway, and one subscription there is enough for all of them.
void Watch::connect(const json& topics) {
  complete_ = true;
  std::set<std::string> endpoints;
  std::map<std::string, std::vector<Stream*>> missing;
  for (const json& topic : topics) {
    const auto stream = std::ranges::find(streams_, topic.value("topic", ""), &Stream::topic);
    if (stream == streams_.end()) continue;
    for (const json& publisher : topic.value("publishers", json::array())) {
      std::string endpoint = publisher.value("endpoint", "");
      if (endpoint == kSameDoor) endpoint = run_.registry;
      endpoints.insert(endpoint);
      if (endpoint.empty()) {
        complete_ = false;  // This process is still starting.
      } else if (connected_.emplace(endpoint, &*stream).second) {
        missing[endpoint].push_back(&*stream);
      }
    }
  }
  drop_links_elsewhere(endpoints);
  for (auto& [endpoint, streams] : missing) {
    for (std::size_t first = 0; first < streams.size(); first += kMaxVisitorSubscriptions) {
      const auto begin = streams.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end =
          streams.begin() + static_cast<std::ptrdiff_t>(std::min(streams.size(), first + kMaxVisitorSubscriptions));
      links_.push_back(std::make_unique<GatewayLink>(context_, endpoint, std::vector<Stream*>(begin, end), options_));
    }
  }
}

// If a process gets its old address again, a later list leads to a new link.
void Watch::drop_links_elsewhere(const std::set<std::string>& endpoints) {
  std::set<std::string> gone;
  for (const auto& link : links_) {
    if (link->disconnected() && !endpoints.contains(link->endpoint())) gone.insert(link->endpoint());
  }
  for (const auto& link : links_) {
    if (!link->disconnected()) gone.erase(link->endpoint());
  }
  std::erase_if(connected_, [&](const auto& subscription) { return gone.contains(subscription.first); });
  std::erase_if(lost_, [&](const GatewayLink* link) { return gone.contains(link->endpoint()); });
  std::erase_if(links_, [&](const auto& link) { return gone.contains(link->endpoint()); });
}

std::optional<Received> Watch::next(milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  for (;;) {
    if (auto received = take_in_turn()) return received;
    check_end();
    if (ended_) return take_in_turn();  // Messages may have arrived before the end was noticed.
    refresh();
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    wait(std::min(left, complete_ && !question_ ? kBetweenChecks : kBetweenQuestions));
  }
}

std::optional<Received> Watch::take_in_turn() {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    turn_ = (turn_ + 1) % links_.size();
    if (auto received = links_[turn_]->take()) return received;
  }
  return std::nullopt;
}

bool Watch::subscribed() const {
  return complete_ && std::ranges::all_of(links_, [](const auto& link) { return link->subscribed(); });
}

void Watch::check_end() {
  const bool all_ended = complete_ && std::ranges::all_of(links_, [](const auto& link) { return link->ended(); });
  if (all_ended) ended_ = true;
  if (ended_) return;
  notice_lost_links();
  if (Clock::now() < next_check_) return;
  next_check_ = Clock::now() + kBetweenChecks;
  if (is_alive(run_)) return;
  ended_ = true;
  for (const auto& link : links_) {
    if (link->ended()) continue;
    cut_off_ = true;
    if (!lost_.contains(link.get())) killed_ = true;
  }
}

// Remembers the links that were lost while the launcher was alive. Every call of next() checks this, because a launcher
// may end soon after one of its processes has crashed. The run may also continue without the process, or start it
// again.
void Watch::notice_lost_links() {
  for (const auto& link : links_) {
    if (!link->disconnected() || link->ended()) {
      lost_.erase(link.get());
    } else if (!lost_.contains(link.get()) && is_alive(run_)) {
      lost_.insert(link.get());
    }
  }
}

// Does not wait for the answer, because messages arrive meanwhile.
void Watch::refresh() {
  if (question_) {
    const std::optional<json> topics = registry_.answer(*question_, milliseconds(0));
    if (!topics) return;
    question_.reset();
    connect(*topics);
  }
  const bool lost =
      std::ranges::any_of(links_, [](const auto& link) { return link->disconnected() && !link->ended(); });
  if ((complete_ && !lost) || Clock::now() < next_question_) return;
  next_question_ = Clock::now() + (complete_ ? kBetweenQuestionsAboutLost : kBetweenQuestions);
  question_ = registry_.post({{"op", "topics"}});
}

void Watch::wait(milliseconds limit) {
  std::vector<zmq::pollitem_t> items;
  for (const auto& link : links_) link->add_to(items);
  if (question_) items.push_back({registry_.socket().handle(), 0, ZMQ_POLLIN, 0});
  zmq::poll(items, limit);
}

}  // namespace trainyard::visitors
