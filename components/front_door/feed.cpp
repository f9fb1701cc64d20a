// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/feed.h"

#include <utility>
#include <vector>

#include "messages/error.h"

namespace trainyard::front_door {

/// A connection to one process. It has two sockets, but the event loop polls one socket for each core::Source. So this
/// object is the source for the first socket, and the member `second_` is the source for the second.
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
  // Nothing is read from a broken link any more, so the event loop must not poll its socket.
  void* socket() const override { return broken_ ? nullptr : handle_; }

 private:
  struct Second final : core::Source {
    explicit Second(Link& of) : link(of) {}
    bool poll() override { return false; }  // Link::poll() reads from both sockets.
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

// A disconnected link is removed only if its address is no longer in the list. If the process is started again at the
// same address, the link reconnects.
void Feed::follow(const std::set<std::string>& endpoints) {
  std::erase_if(links_, [&](const auto& link) {
    return link.second->is_broken() || (link.second->is_lost() && !endpoints.contains(link.first));
  });
  for (const std::string& endpoint : endpoints) {
    if (links_.contains(endpoint)) continue;
    try {
      links_.emplace(endpoint, std::make_shared<Link>(*this, endpoint));
    } catch (const Error&) {
      // The process may have ended, or no socket is left. The next list of topics leads to another attempt.
    }
  }
}

}  // namespace trainyard::front_door
