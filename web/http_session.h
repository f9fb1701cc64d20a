// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only server.cpp includes this header, so that no other file includes Boost.

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast.hpp>
#include <boost/beast/ssl.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "web/hub.h"
#include "web/socket_session.h"

namespace trainyard::web {

/// A connection that uses HTTP. It answers one request after another, until the client disconnects, violates the
/// protocol, or asks for a WebSocket. `Stream` is a TCP stream, with or without TLS.
template <class Stream>
class HttpSession final : public Connection, public std::enable_shared_from_this<HttpSession<Stream>> {
 public:
  HttpSession(Stream stream, std::shared_ptr<Hub> hub) : stream_(std::move(stream)), hub_(std::move(hub)) {}
  ~HttpSession() override { hub_->remove(*this); }

  void start() {
    if (!hub_->admit(*this)) return;
    boost::beast::get_lowest_layer(stream_).expires_after(hub_->limits().handshake);
    if constexpr (kTls) {
      stream_.async_handshake(boost::asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](boost::beast::error_code error) {
                                if (!error) self->read();
                              });
    } else {
      read();
    }
  }

  void cut() override { boost::beast::get_lowest_layer(stream_).close(); }

 private:
  using Body = boost::beast::http::string_body;
  using Field = boost::beast::http::field;
  using Status = boost::beast::http::status;
  using Reply = boost::beast::http::response<boost::beast::http::span_body<const char>>;
  static constexpr bool kTls = !std::is_same_v<Stream, boost::beast::tcp_stream>;
  /// The maximum size of the body of a request. No request needs a body.
  static constexpr std::uint64_t kBodyBytes = 1024;

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(hub_->limits().head_bytes));
    parser_->body_limit(kBodyBytes);
    // This is the time limit for the whole request, so a client cannot extend it by sending slowly.
    boost::beast::get_lowest_layer(stream_).expires_after(known_ ? hub_->limits().idle : hub_->limits().handshake);
    boost::beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](boost::beast::error_code error, std::size_t) { self->on_read(error); });
  }

  void on_read(boost::beast::error_code error) {
    namespace http = boost::beast::http;
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return refuse(plain(431, "The head of the request is too large."));
    }
    if (error == http::error::body_limit) return refuse(plain(413, "The body of the request is too large."));
    if (error == http::error::end_of_stream) return cut();
    if (error.category() == boost::beast::http::make_error_code(http::error::end_of_stream).category()) {
      return refuse(plain(400, "This is not a request that the server understands."));
    }
    if (error) return;
    handle();
  }

  std::string text(Field name) const {
    const auto value = parser_->get()[name];
    return std::string(value.data(), value.size());
  }

  Approach approach(const Target& target) const {
    const auto& head = parser_->get();
    Approach approach{.host = text(Field::host),
                      .cookie = text(Field::cookie),
                      .authorization = text(Field::authorization),
                      .token = target.argument("token")};
    if (head.find(Field::origin) != head.end()) approach.origin = text(Field::origin);
    return approach;
  }

  void handle() {
    const auto& head = parser_->get();
    const Target target = parse_target({head.target().data(), head.target().size()});
    const bool upgrade = boost::beast::websocket::is_upgrade(head);
    const auto channel = std::find_if(hub_->channels.begin(), hub_->channels.end(),
                                      [&](const auto& one) { return one.first.path == target.path; });
    const bool found = upgrade && channel != hub_->channels.end();
    const Verdict verdict =
        hub_->keeper->judge(approach(target), upgrade, found ? channel->first.origins : std::vector<std::string>{});
    if (!verdict.admitted()) {
      ++hub_->refused;
      return refuse(plain(403, verdict.refusal));
    }
    hub_->promote(*this);
    known_ = true;
    if (upgrade && !found) return refuse(plain(404, "There is no WebSocket at this address."));
    if (upgrade) return open_channel(*channel, *verdict.role);
    answer(target, *verdict.role);
  }

  void answer(const Target& target, Role role) {
    const auto method = parser_->get().method();
    if (method != boost::beast::http::verb::get && method != boost::beast::http::verb::head) {
      return send(plain(405, "Only GET and HEAD are answered here."), {{Field::allow, "GET, HEAD"}});
    }
    // The token is moved from the address to a cookie, because an address is visible on the screen and in the browser's
    // history.
    if (target.path == "/" && !target.argument("token").empty()) {
      const std::string cookie = hub_->keeper->cookie_name() + "=" + hub_->keeper->token(role) +
                                 "; HttpOnly; SameSite=Strict; Path=/" + (kTls ? "; Secure" : "");
      return send(plain(303, "See the page itself."), {{Field::location, "/"}, {Field::set_cookie, cookie}});
    }
    if (const Response* file = hub_->files.find(target.path)) return send(*file);
    const auto found = hub_->answers.find(target.path);
    if (found == hub_->answers.end()) return send(plain(404, "There is nothing at this address."));
    try {
      send(found->second({target.path, target.query, role, text(Field::accept)}));
    } catch (const std::exception& error) {
      send(plain(500, error.what()));
    }
  }

  /// Sends the response, and then closes the connection.
  void refuse(Response response) {
    last_ = true;
    send(std::move(response));
  }

  void send(Response response, std::vector<std::pair<Field, std::string>> fields = {}) {
    static const std::string kNothing;
    body_ = response.body;
    const std::string& body = body_ ? *body_ : kNothing;
    const bool only_head = parser_->get().method() == boost::beast::http::verb::head;
    last_ = last_ || !parser_->get().keep_alive();
    reply_.emplace(static_cast<Status>(response.status), parser_->get().version() == 10 ? 10 : 11);
    reply_->set(Field::content_type, response.type);
    set_strict_fields();
    for (const auto& [name, value] : fields) reply_->set(name, value);
    reply_->keep_alive(!last_);
    if (!only_head) reply_->body() = boost::beast::span<const char>(body.data(), body.size());
    reply_->content_length(body.size());
    boost::beast::get_lowest_layer(stream_).expires_after(hub_->limits().idle);
    boost::beast::http::async_write(stream_, *reply_,
                                    [self = this->shared_from_this()](boost::beast::error_code error, std::size_t) {
                                      if (error) return;
                                      if (self->last_) return self->farewell();
                                      self->read();
                                    });
  }

  void set_strict_fields() {
    reply_->set("Content-Security-Policy",
                "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; connect-src 'self'");
    reply_->set("X-Frame-Options", "DENY");
    reply_->set("X-Content-Type-Options", "nosniff");
    reply_->set("Referrer-Policy", "no-referrer");
    reply_->set(Field::cache_control, "no-store");
  }

  /// Tells the client that nothing more will be sent, so that it reads the response before it notices the end of the
  /// connection.
  void farewell() {
    boost::beast::error_code ignored;
    boost::beast::get_lowest_layer(stream_).socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
    drain();
  }

  /// Reads for a moment what the client is still sending. If a connection is closed with unread bytes, it is reset, and
  /// the client might never see the response.
  void drain() {
    boost::beast::get_lowest_layer(stream_).expires_after(std::chrono::seconds(1));
    drained_ += sink_.size();
    if (drained_ > (1u << 20)) return cut();
    boost::beast::get_lowest_layer(stream_).async_read_some(
        boost::asio::buffer(sink_), [self = this->shared_from_this()](boost::beast::error_code error, std::size_t) {
          if (!error) self->drain();
        });
  }

  void open_channel(const std::pair<ChannelOptions, MakeHandler>& channel, Role role) {
    const std::string wanted = channel.first.subprotocol;
    if (!wanted.empty() &&
        !boost::beast::http::token_list(parser_->get()[Field::sec_websocket_protocol]).exists(wanted)) {
      return refuse(plain(400, "This address speaks the subprotocol " + wanted + "."));
    }
    boost::beast::get_lowest_layer(stream_).expires_never();
    const auto session =
        std::make_shared<SocketSession<Stream>>(std::move(stream_), hub_, channel.second, role, wanted);
    hub_->replace(*session);
    session->start(parser_->release());
  }

  Stream stream_;
  std::shared_ptr<Hub> hub_;
  boost::beast::flat_buffer buffer_{64u << 10};
  std::optional<boost::beast::http::request_parser<Body>> parser_;
  std::optional<Reply> reply_;
  std::shared_ptr<const std::string> body_;  ///< The body to which reply_ refers.
  std::array<char, 4096> sink_{};
  std::size_t drained_ = 0;
  bool known_ = false;  ///< True if the client has presented a valid token.
  bool last_ = false;   ///< True if the connection ends after this response.
};

}  // namespace trainyard::web
