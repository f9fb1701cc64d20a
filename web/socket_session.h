// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only server.cpp includes this header, so that no other file includes Boost.

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "web/hub.h"

namespace trainyard::web {

/// A connection that has become a WebSocket.
///
/// Messages to the client wait in a queue of limited size and are written one at a time. A pushed message that does not
/// fit into the queue is lost. While answers fill the queue, no further message is read from the client.
template <class Stream>
class SocketSession final : public Connection,
                            public Channel,
                            public std::enable_shared_from_this<SocketSession<Stream>> {
 public:
  SocketSession(Stream stream, std::shared_ptr<Hub> hub, MakeHandler make, Role role, std::string subprotocol)
      : socket_(std::move(stream)),
        hub_(std::move(hub)),
        make_(std::move(make)),
        role_(role),
        subprotocol_(std::move(subprotocol)) {}
  ~SocketSession() override { hub_->remove(*this); }

  /// Answers the request for a WebSocket, and begins to read.
  template <class Request>
  void start(Request request) {
    namespace websocket = boost::beast::websocket;
    websocket::stream_base::timeout patience{};
    patience.handshake_timeout = hub_->limits().handshake;
    patience.idle_timeout = hub_->limits().idle;
    patience.keep_alive_pings = true;
    socket_.set_option(patience);
    socket_.read_message_max(hub_->limits().message_bytes);
    socket_.auto_fragment(false);
    socket_.set_option(websocket::stream_base::decorator([name = subprotocol_](websocket::response_type& response) {
      if (!name.empty()) response.set(boost::beast::http::field::sec_websocket_protocol, name);
    }));
    // The request must exist until the operation has finished.
    const auto kept = std::make_shared<Request>(std::move(request));
    socket_.async_accept(*kept, [self = this->shared_from_this(), kept](boost::beast::error_code error) {
      if (error) return self->finish();
      self->begin();
    });
  }

  void cut() override {
    boost::beast::get_lowest_layer(socket_).close();
    finish();
  }

  Role role() const override { return role_; }
  void answer(std::string text, bool binary) override {
    enqueue({std::make_shared<const std::string>(std::move(text)), binary}, /*always=*/true);
  }
  bool push(std::shared_ptr<const std::string> text, bool binary) override {
    return enqueue({std::move(text), binary}, /*always=*/false);
  }
  std::uint64_t missed() const override {
    const std::lock_guard lock(mutex_);
    return missed_;
  }
  void close() override {
    const std::lock_guard lock(mutex_);
    if (!ended_) boost::asio::post(socket_.get_executor(), [self = this->shared_from_this()] { self->cut(); });
  }

 private:
  struct Outgoing {
    std::shared_ptr<const std::string> text;
    bool binary = false;
  };
  /// An estimate of the memory that a queued message needs besides its bytes.
  static constexpr std::size_t kMessageBytes = 128;

  void begin() {
    try {
      handler_ = make_(*this);
    } catch (const std::exception&) {
      return cut();
    }
    read();
  }

  void read() {
    socket_.async_read(buffer_, [self = this->shared_from_this()](boost::beast::error_code error, std::size_t) {
      if (error) return self->finish();
      self->on_message();
    });
  }

  void on_message() {
    if (!handler_) return;
    const auto bytes = buffer_.data();
    try {
      handler_->on_message({static_cast<const char*>(bytes.data()), bytes.size()}, socket_.got_binary());
    } catch (const std::exception&) {
      return cut();
    }
    buffer_.consume(buffer_.size());
    {
      const std::lock_guard lock(mutex_);
      stalled_ = queued_ > hub_->limits().queued_bytes;
      if (stalled_) return;
    }
    read();
  }

  /// Adds a message to the queue. Returns false if the session has ended, or if `always` is false and there is no room
  /// for the message. Any thread may call this.
  bool enqueue(Outgoing message, bool always) {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    const std::size_t bytes = message.text->size() + kMessageBytes;
    if (!always && queued_ + bytes > hub_->limits().queued_bytes) {
      ++missed_;
      ++hub_->missed;
      return false;
    }
    queued_ += bytes;
    queue_.push_back(std::move(message));
    // If another message is being written, on_written() starts the next write.
    if (queue_.size() == 1) {
      boost::asio::post(socket_.get_executor(), [self = this->shared_from_this()] { self->write(); });
    }
    return true;
  }

  void write() {
    Outgoing next;
    {
      const std::lock_guard lock(mutex_);
      if (ended_ || queue_.empty()) return;
      next = queue_.front();
    }
    socket_.binary(next.binary);
    socket_.async_write(boost::asio::buffer(*next.text),
                        [self = this->shared_from_this(), next](boost::beast::error_code error, std::size_t) {
                          if (error) return self->cut();
                          self->on_written();
                        });
  }

  void on_written() {
    bool read_on = false, more = false;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      queued_ -= queue_.front().text->size() + kMessageBytes;
      queue_.pop_front();
      more = !queue_.empty();
      read_on = stalled_ && queued_ <= hub_->limits().queued_bytes;
      if (read_on) stalled_ = false;
    }
    if (more) write();
    if (read_on) read();
  }

  /// Ends the session: discards the queue and destroys the handler. Operations that are still pending on the socket end
  /// without further effect.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      queue_.clear();
      queued_ = 0;
    }
    handler_.reset();
  }

  boost::beast::websocket::stream<Stream> socket_;
  std::shared_ptr<Hub> hub_;
  MakeHandler make_;
  Role role_;
  std::string subprotocol_;
  boost::beast::flat_buffer buffer_;
  std::unique_ptr<ChannelHandler> handler_;

  mutable std::mutex mutex_;  ///< Protects the members below.
  std::deque<Outgoing> queue_;
  std::size_t queued_ = 0;
  std::uint64_t missed_ = 0;
  bool stalled_ = false;  ///< True while nothing is read, because too many answers wait.
  bool ended_ = false;
};

}  // namespace trainyard::web
