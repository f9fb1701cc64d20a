// SPDX-License-Identifier: Apache-2.0
#include "web/server.h"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/loop/quiet_thread.h"
#include "messages/error.h"
#include "web/http_session.h"
#include "web/hub.h"
#include "web/token.h"

namespace trainyard::web {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using PlainStream = boost::beast::tcp_stream;
using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

/// How long the server waits before it accepts connections again, after the process has run out of file descriptors.
constexpr std::chrono::milliseconds kPauseAfterError{100};

asio::ip::address parse_address(const std::string& text) {
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(text, error);
  if (error) {
    throw Error(Code::kInvalidArgument, "the address '{}' is not an IP address, such as 127.0.0.1 or ::1", text);
  }
  return address;
}

void check(const Settings& settings, const asio::ip::address& address) {
  const bool tls = !settings.certificate.empty() && !settings.key.empty();
  if (!tls && (!settings.certificate.empty() || !settings.key.empty())) {
    throw Error(Code::kInvalidArgument, "a certificate and its key are needed together; only the {} was given",
                settings.key.empty() ? "certificate" : "key");
  }
  if (!address.is_loopback() && !tls) {
    throw Error(Code::kInvalidArgument,
                "the address {} can be reached from other machines, which is allowed only with TLS: give a "
                "certificate and its key, or use 127.0.0.1",
                settings.address);
  }
  if (address.is_unspecified() && settings.names.empty()) {
    throw Error(Code::kInvalidArgument,
                "the address {} stands for all addresses of this machine: give the name under which clients reach it",
                settings.address);
  }
}

/// Returns the address as it appears in a URL. An IPv6 address is in brackets there.
std::string name_in_url(const asio::ip::address& address) {
  return address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
}

std::vector<std::string> known_names(const Settings& settings, const asio::ip::address& address) {
  std::vector<std::string> names = settings.names;
  if (!address.is_unspecified()) names.push_back(name_in_url(address));
  if (address.is_loopback()) names.push_back("localhost");
  return names;
}

asio::ssl::context tls_context(const Settings& settings) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
  if (settings.certificate.empty()) return context;
  for (const std::string& path : {settings.certificate, settings.key}) {
    if (!std::filesystem::is_regular_file(path)) throw Error(Code::kNotFound, "there is no file {}", path);
  }
  boost::system::error_code error;
  context.use_certificate_chain_file(settings.certificate, error);
  if (error) throw Error(Code::kCorrupt, "{} is not a certificate in PEM: {}", settings.certificate, error.message());
  context.use_private_key_file(settings.key, asio::ssl::context::pem, error);
  if (error) {
    throw Error(Code::kCorrupt, "{} is not the key of the certificate in PEM: {}", settings.key, error.message());
  }
  return context;
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(Settings settings)
      : address_(parse_address(settings.address)),
        tls_((check(settings, address_), tls_context(settings))),
        acceptor_(io_),
        retry_(io_),
        hub_(std::make_shared<Hub>(std::move(settings))) {
    listen();
    const auto token = [](const std::string& given) { return given.empty() ? new_token() : given; };
    hub_->keeper.emplace(known_names(hub_->settings(), address_), port(), is_tls(),
                         token(hub_->settings().control_token), token(hub_->settings().watch_token));
  }

  ~Impl() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      hub_->cut_all();
      io_.stop();
    });
    thread_.join();
  }

  void start() {
    accept();
    thread_ = core::quiet_thread("web server", [this] { io_.run(); });
  }

  Hub& hub() { return *hub_; }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  std::string url(Role role) const {
    const auto& names = hub_->settings().names;
    return fmt::format("{}://{}:{}/?token={}", is_tls() ? "https" : "http",
                       names.empty() ? name_in_url(address_) : names.front(), port(), hub_->keeper->token(role));
  }

 private:
  bool is_tls() const { return !hub_->settings().certificate.empty(); }

  void listen() {
    const tcp::endpoint endpoint(address_, hub_->settings().port);
    try {
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen();
    } catch (const boost::system::system_error& error) {
      throw Error(Code::kIo, "cannot listen at {}:{}: {}", name_in_url(address_), hub_->settings().port,
                  error.code().message());
    }
  }

  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      welcome(std::move(socket));
      accept();
    });
  }

  void accept_later() {
    retry_.expires_after(kPauseAfterError);
    retry_.async_wait([this](boost::system::error_code error) {
      if (!error) accept();
    });
  }

  void welcome(tcp::socket socket) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    PlainStream stream(std::move(socket));
    if (is_tls()) {
      std::make_shared<HttpSession<TlsStream>>(TlsStream(std::move(stream), tls_), hub_)->start();
    } else {
      std::make_shared<HttpSession<PlainStream>>(std::move(stream), hub_)->start();
    }
  }

  asio::ip::address address_;
  asio::io_context io_{1};
  asio::ssl::context tls_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  std::shared_ptr<Hub> hub_;
  std::thread thread_;
};

Server::Server(Settings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
Server::~Server() = default;

void Server::serve(Files files) { impl_->hub().files = std::move(files); }
void Server::on_get(const std::string& path, std::function<Response(const Request&)> answer) {
  impl_->hub().answers[path] = std::move(answer);
}
void Server::on_channel(ChannelOptions options, MakeHandler make) {
  impl_->hub().channels.emplace_back(std::move(options), std::move(make));
}
void Server::start() { impl_->start(); }
std::uint16_t Server::port() const { return impl_->port(); }
std::string Server::url(Role role) const { return impl_->url(role); }
Counters Server::counters() const {
  const Hub& hub = impl_->hub();
  return {hub.connections, hub.accepted, hub.refused, hub.turned_away, hub.missed};
}

}  // namespace trainyard::web
