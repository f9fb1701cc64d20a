// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/feed.h"

#include <utility>
#include <vector>

#include "messages/error.h"

namespace trainyard::front_door {

/// A connection to one process, which the loop polls. A link has two sockets, so it is a source for one of them and has
/// a source for the other.
class Feed::Link final : public core::Source {
 public:
  Link(Feed& feed, const std::string& endpoint)
      : feed_(feed), link_(feed.context_, endpoint, {&feed.stream_}, feed.options_), second_(*this) {
    std::vector<zmq::pollitem_t> items;
    link_.add_to(items);
    handle_ = items.at(0).socket;
    second_.handle = items.at(1).socket;
    feed_.loop_.add(*this);
    feed_.loop_.add(second_);
  }
  ~Link() override {
    feed_.loop_.remove(second_);
    feed_.loop_.remove(*this);
  }

  bool is_lost() const { return broken_ || link_.disconnected(); }
  bool is_broken() const { return broken_; }

  bool poll() override {
    constexpr int kRound = 16;
    int taken = 0;
    try {
      for (; taken < kRound && !broken_; ++taken) {
        auto message = link_.take();
        if (!message) break;
        feed_.sink_(*std::move(message));
      }
    } catch (const Error&) {
      broken_ = true;
    }
    return taken != 0;
  }
  bool has_work() const override { return false; }
  // Nothing is read from a broken link any more, so the loop must not wait for it.
  void* socket() const override { return broken_ ? nullptr : handle_; }

 private:
  struct Second final : core::Source {
    explicit Second(Link& of) : link(of) {}
    bool poll() override { return false; }  // The first one polls both.
    bool has_work() const override { return false; }
    void* socket() const override { return link.broken_ ? nullptr : handle; }

    Link& link;
    void* handle = nullptr;
  };

  Feed& feed_;
  visitors::GatewayLink link_;
  Second second_;
  void* handle_ = nullptr;
  bool broken_ = false;
};

Feed::Feed(core::EventLoop& loop, zmq::context_t& context, std::string topic, std::string payloads, Sink sink)
    : loop_(loop), context_(context), sink_(std::move(sink)) {
  stream_.topic = std::move(topic);
  options_.payloads = std::move(payloads);
}

// A process that was started again at its old address is reached again by the old link.
void Feed::follow(const std::set<std::string>& endpoints) {
  std::erase_if(links_, [&](const auto& link) {
    return link.second->is_broken() || (link.second->is_lost() && !endpoints.contains(link.first));
  });
  for (const std::string& endpoint : endpoints) {
    if (links_.contains(endpoint)) continue;
    try {
      links_.emplace(endpoint, std::make_shared<Link>(*this, endpoint));
    } catch (const Error&) {
      // The process may be gone; the next list of topics says where it is.
    }
  }
}

}  // namespace trainyard::front_door
