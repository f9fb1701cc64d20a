// SPDX-License-Identifier: Apache-2.0
#include "visitors/door.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/keys/key_folder.h"
#include "core/transport/frames.h"
#include "core/transport/socket_monitor.h"
#include "messages/error.h"
#include "messages/printable.h"
#include "visitors/json_fields.h"
#include "visitors/registry_client.h"

namespace trainyard::visitors {
namespace {

using core::Key;
using core::KeyFolder;
using core::PublicKey;
using core::Role;
using std::chrono::milliseconds;

constexpr std::string_view kTcp = "tcp://";
constexpr milliseconds kPatience{5000};

struct DoorAddress {
  std::string key;       ///< The name of the visitor's key; empty if it is not given.
  std::string endpoint;  ///< The address in the form that ZeroMQ expects: "tcp://node7:7401".
  std::string host;      ///< The host in the endpoint: "node7".
};

DoorAddress parse(const std::string& address) {
  const std::size_t tcp = address.find(kTcp);
  DoorAddress door{.key = tcp == 0 ? "" : address.substr(0, tcp - 1), .endpoint = address.substr(tcp)};
  const std::size_t colon = door.endpoint.rfind(':');
  door.host = door.endpoint.substr(kTcp.size(), colon < kTcp.size() ? 0 : colon - kTcp.size());
  const std::string port = door.endpoint.substr(colon + 1);
  const bool is_port =
      !port.empty() && port.size() <= 5 && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  if (!door.host.empty() && is_port && (tcp == 0 || !door.key.empty())) return door;
  throw Error(Code::kInvalidArgument, "'{}' is not the address of a run; it has the form KEY@tcp://HOST:PORT",
              printable_line(address.substr(0, 100)));
}

/// Returns the name of the user's only key for visitors, for an address that names no key. Throws kNotFound if there is
/// none, or more than one.
std::string only_key(const KeyFolder& keys) {
  std::vector<std::string> names;
  for (const std::string& name : keys.own_names()) {
    if (keys.own(name).role != Role::kMember) names.push_back(name);
  }
  if (names.size() == 1) return names.front();
  throw Error(Code::kNotFound, "{} in {}; write KEY@tcp://HOST:PORT, where KEY is the name of your key{}",
              names.empty() ? "no key of a visitor" : "several keys of visitors", keys.path(),
              names.empty() ? ", which `trainyard keys new` makes" : fmt::format(" ({})", fmt::join(names, ", ")));
}

/// Returns the public key of the host: the known key that has the host's name, or else the only known key of a host.
PublicKey key_of_host(const KeyFolder& keys, const std::string& host) {
  std::vector<PublicKey> hosts;
  for (const std::string& name : keys.public_names()) {
    PublicKey key = keys.find(name);
    if (name == host) return key;
    if (key.role == Role::kMember) hosts.push_back(std::move(key));
  }
  if (hosts.size() == 1) return hosts.front();
  throw Error(Code::kNotFound,
              "{} in {}; on the host, `trainyard keys show` prints the line of its key, and here `trainyard keys add "
              "'LINE' --name {}` makes it known",
              hosts.empty() ? "the key of no host is known" : fmt::format("no key is named '{}'", printable_line(host)),
              keys.path(), printable_line(host));
}

void present(zmq::socket_t& socket, const Key& own, const PublicKey& host) {
  socket.set(zmq::sockopt::curve_publickey, own.text);
  socket.set(zmq::sockopt::curve_secretkey, own.secret);
  socket.set(zmq::sockopt::curve_serverkey, host.text);
  socket.set(zmq::sockopt::handshake_ivl, static_cast<int>(kPatience.count()));
  // Another host may disappear without closing the connection, so keepalive detects this. The intervals between
  // attempts to reconnect grow; when they have reached the maximum, GatewayLink knows that the door does not come back.
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 30);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 10);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
  socket.set(zmq::sockopt::connect_timeout, 3000);
  socket.set(zmq::sockopt::ipv6, true);  // The name of the host may have IPv6 addresses only.
  socket.set(zmq::sockopt::reconnect_ivl, kFirstRetry);
  socket.set(zmq::sockopt::reconnect_ivl_max, kLastRetry);
}

/// Watches the events of a socket to find out whether the door admits it.
class Knock {
 public:
  Knock(zmq::context_t& context, zmq::socket_t& socket) : events_(core::monitor_of(context, socket, kEvents)) {}

  enum class Answer { kNone, kStranger, kRefused, kAdmitted };

  Answer wait() {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    Answer answer = Answer::kNone;
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
      zmq::pollitem_t item{events_.handle(), 0, ZMQ_POLLIN, 0};
      if (zmq::poll(&item, 1, std::max(left, milliseconds(0))) == 0) return answer;
      const auto event = core::next_event(events_);
      if (!event) continue;
      if (event->number == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) return Answer::kAdmitted;
      if (event->number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) return Answer::kRefused;
      // A program has accepted the connection, but it has not proved that it has the expected key.
      answer = Answer::kStranger;
    }
  }

 private:
  static constexpr int kEvents = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

  zmq::socket_t events_;
};

void require_admission_at(const std::string& address) {
  const DoorAddress door = parse(address);
  const KeyFolder keys;
  const Key own = keys.own(door.key);
  const PublicKey host = key_of_host(keys, door.host);
  zmq::context_t context;
  zmq::socket_t socket = core::make_socket(context, zmq::socket_type::dealer);
  socket.set(zmq::sockopt::linger, 0);
  Knock knock(context, socket);
  connect_visitor(socket, address);
  switch (knock.wait()) {
    case Knock::Answer::kAdmitted:
      return;
    case Knock::Answer::kRefused:
      throw Error(Code::kInvalidArgument,
                  "{} does not admit the key '{}' ({}); its owner has to admit the line that `trainyard keys show {}` "
                  "prints",
                  door.endpoint, own.name, own.fingerprint(), own.name);
    case Knock::Answer::kStranger:
      throw Error(Code::kInvalidArgument,
                  "{} is not the run whose key is '{}' ({}): it has not proved that it has this key", door.endpoint,
                  host.name, host.fingerprint());
    case Knock::Answer::kNone:
      throw Error(Code::kNotFound, "nobody answers at {} (waited {} s)", door.endpoint, kPatience.count() / 1000);
  }
}

}  // namespace

bool is_door(std::string_view address) {
  const std::size_t tcp = address.find(kTcp);
  return tcp != std::string_view::npos && tcp != 0 && address[tcp - 1] == '@';
}

void connect_visitor(zmq::socket_t& socket, const std::string& address) {
  std::string endpoint = address;
  if (is_door(address)) {
    const DoorAddress door = parse(address);
    const KeyFolder keys;
    present(socket, keys.own(door.key), key_of_host(keys, door.host));
    endpoint = door.endpoint;
  } else {
    core::check_address(address);
  }
  try {
    socket.connect(endpoint);
  } catch (const zmq::error_t& error) {
    throw Error(Code::kIo, "cannot connect to {}: {}", endpoint, error.what());
  }
}

RunInfo run_at_door(const std::string& given) {
  const DoorAddress door = parse(given);
  const std::string address = fmt::format("{}@{}", door.key.empty() ? only_key(KeyFolder()) : door.key, door.endpoint);
  require_admission_at(address);
  zmq::context_t context;
  const nlohmann::json run = RegistryClient(context, address).ask("run");
  return {.run = text_in(run, "run"), .name = text_in(run, "name"), .file = text_in(run, "file"), .registry = address};
}

}  // namespace trainyard::visitors
