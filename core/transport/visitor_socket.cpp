// SPDX-License-Identifier: Apache-2.0
#include "core/transport/visitor_socket.h"

#include <algorithm>
#include <limits>

#include "core/keys/key.h"
#include "core/transport/run_keys.h"

namespace trainyard::core {
namespace {

/// How many bytes of a connection may be on their way through the filter, in each direction.
constexpr std::size_t kRelayBuffer = 32 << 10;

/// Returns the maximum number of connections. Each of them takes a file descriptor, or three behind a StrangerFilter,
/// and the process needs descriptors for other purposes, too.
std::size_t most_connections(const Key* key) {
  constexpr std::size_t kMost = 1024;
  return std::min(kMost, raise_descriptor_limit() / (key == nullptr ? 4 : 8));
}

zmq::socket_t make_visitor_socket(zmq::context_t& context, std::size_t largest_frame, int backlog, const Key* key) {
  zmq::socket_t socket = make_socket(context, zmq::socket_type::router);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(largest_frame));
  socket.set(zmq::sockopt::rcvhwm, backlog);
  // A visitor must not be able to take over the connection of another visitor by using its name.
  socket.set(zmq::sockopt::router_handover, false);
  if (key != nullptr) accept_members(context, socket, {.public_key = key->text, .secret_key = key->secret});
  // A client that does not complete the handshake in this time is disconnected.
  constexpr int kHandshakeMilliseconds = 5000;
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMilliseconds);
  return socket;
}

}  // namespace

VisitorSocket::VisitorSocket(zmq::context_t& context, const std::string& address, std::size_t largest_frame,
                             int backlog, const Key* key)
    : socket_(make_visitor_socket(context, largest_frame, backlog, key)),
      limit_(context, socket_, key == nullptr ? most_connections(key) : std::numeric_limits<std::size_t>::max()) {
  if (key == nullptr) {
    limit_.bind(address);
  } else {
    filter_ = std::make_unique<StrangerFilter>(
        socket_, address,
        StrangerFilter::Limits{
            .strangers = StrangerFilter::most_strangers(), .admitted = most_connections(key), .buffer = kRelayBuffer});
  }
}

std::shared_ptr<VisitorAccount> VisitorSocket::account(const std::string& visitor) {
  forget_accounts();
  std::weak_ptr<VisitorAccount>& known = accounts_[visitor];
  std::shared_ptr<VisitorAccount> account = known.lock();
  if (account == nullptr) known = account = std::make_shared<VisitorAccount>();
  return account;
}

// libzmq discards unread bytes when it closes the connection, so unread bytes show that there still is one. Without
// unread bytes, the only test is to send a frame: a ROUTER refuses a frame to a visitor that has disconnected.
bool VisitorSocket::present(const std::string& visitor, const std::shared_ptr<VisitorAccount>& account) {
  if (account->unread() != 0) return true;
  Frames probe;
  probe.emplace_back(std::string_view(visitor));
  // The frame is charged to the visitor's account. If the visitor does not read it, the account has unread bytes, and
  // no further frames are sent.
  probe.push_back(ledger_.frame(account, nullptr, "", 0, VisitorLedger::kMessageBytes));
  return send(probe);
}

void VisitorSocket::answer(const Frames& envelope, std::string text) {
  const std::shared_ptr<VisitorAccount> account = this->account(envelope.front().to_string());
  if (!ledger_.has_room(*account) || !ledger_.fits(*account, text.size())) return;
  Frames frames;
  for (const zmq::message_t& frame : envelope) frames.emplace_back(frame.to_string_view());
  const auto kept = std::make_shared<const std::string>(std::move(text));
  frames.push_back(
      ledger_.frame(account, kept, kept->data(), kept->size(), kept->size() + VisitorLedger::kMessageBytes));
  send(frames);
}

void VisitorSocket::forget_accounts() {
  if (accounts_.size() < many_accounts_) return;
  std::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
  many_accounts_ = 2 * accounts_.size() + 64;
}

}  // namespace trainyard::core
