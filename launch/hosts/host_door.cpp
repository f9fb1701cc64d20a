// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_door.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "launch/hosts/addresses.h"
#include "launch/hosts/join_check.h"
#include "launch/run/seconds.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::launch {
namespace {

/// How long end_all() waits until the agents have disconnected.
constexpr std::chrono::seconds kFarewell{5};
constexpr std::chrono::milliseconds kLook{10};

/// Returns a context for a door. Throws if this process may not open enough descriptors for the agents of all hosts.
zmq::context_t make_context(std::uint32_t hosts) {
  const std::size_t most = core::StrangerFilter::most_admitted();
  if (hosts > most + 1) {
    throw Error(Code::kUnsupported,
                "the run has {} hosts, but host 0 may open only {} file descriptors, which are enough for {} other "
                "hosts; raise this limit, for example with `ulimit -n`",
                hosts, core::raise_descriptor_limit(), most);
  }
  return {};
}

/// Returns the socket for the agents. It listens on all interfaces, because host 0 does not know over which interface
/// the agents connect; only agents with the key are admitted. A socket for all IPv6 addresses accepts connections over
/// IPv4, too. If the meeting place is a loopback address, the socket listens only there.
std::unique_ptr<RouterSocket> open_door(zmq::context_t& context, const HostSettings& settings) {
  const MeetingPlace& meeting = settings.meeting;
  const std::string local = meeting.host == "::1" ? "::1" : "127.0.0.1";
  const std::string address = means_loopback(meeting.host) ? local : has_ipv6() ? "::" : "0.0.0.0";
  std::string problem;
  for (const std::uint16_t port : meeting.ports) {
    try {
      return std::make_unique<RouterSocket>(context, tcp_endpoint(address, std::to_string(port)), settings.key,
                                            RouterSocket::Exposure::kPublic);
    } catch (const Error& error) {
      if (error.code() != Code::kIo) throw;
      problem = error.what();
    }
  }
  throw Error(Code::kIo, "host 0 cannot listen for the other hosts at any of the ports {}: {}",
              fmt::join(meeting.ports, ", "), problem);
}

}  // namespace

HostDoor::HostDoor(const Plan& plan, const HostSettings& settings)
    : plan_(plan),
      settings_(settings),
      sockets_(make_context(plan.hosts)),
      admission_(sockets_, {settings.key.public_key}),
      socket_(open_door(sockets_, settings)),
      joined_(plan.hosts) {}

HostDoor::~HostDoor() {
  if (!ended_) end_all(1, "run failed: host 0 could not start it");
  stop_serving();
}

void HostDoor::serve(PollLoop& loop) {
  loop_ = &loop;
  watches_.push_back(loop.watch_socket(socket_->handle(), [this] { receive(); }));
  watches_.push_back(loop.watch_socket(admission_.socket(), [this] {
    while (admission_.poll()) {
    }
  }));
}

void HostDoor::stop_serving() {
  for (const PollLoop::Id watch : watches_) loop_->cancel(watch);
  watches_.clear();
}

void HostDoor::gather(RunConsole& console) {
  PollLoop loop;
  console_ = &console;
  serve(loop);
  const auto begin = loop.now();
  auto remind = begin + settings_.first_reminder, beat = begin + kHostBeat;
  try {
    while (!missing().empty()) {
      loop.run_once(std::chrono::milliseconds(100));
      const auto now = loop.now();
      if (now >= begin + settings_.join_timeout) {
        throw Error(Code::kTimeout, "{} did not join within {} s", fmt::join(missing(), ", "),
                    in_seconds(settings_.join_timeout));
      }
      if (now >= remind && !missing().empty()) {
        console.say(fmt::format("waiting for {}", fmt::join(missing(), ", ")));
        remind = now + settings_.reminder;
      }
      if (now < beat) continue;
      beat = now + kHostBeat;
      say_refusals(console);
      for (std::uint32_t host = 1; host < hosts(); ++host) {
        if (!joined_[host] || send(host, HostBeat{})) continue;
        throw Error(Code::kPeerLost, "{} joined and is gone", describe_joined(joined_[host]->join));
      }
    }
  } catch (const Error& error) {
    end_all(1, fmt::format("run failed: {}", error.what()));
    stop_serving();
    throw;
  }
  stop_serving();
  console_ = nullptr;
}

void HostDoor::say_refusals(RunConsole& console) {
  const std::uint64_t count = refusals();
  if (count == said_refusals_) return;
  said_refusals_ = count;
  console.say(
      fmt::format("refused so far: {} connection{} without the key of the hosts", count, count == 1 ? "" : "s"));
}

std::vector<std::string> HostDoor::missing() const {
  std::vector<std::string> names;
  for (std::uint32_t host = 1; host < hosts(); ++host) {
    if (!joined_[host]) names.push_back(describe_host(plan_, host));
  }
  return names;
}

void HostDoor::end_all(int exit_code, const std::string& reason) {
  ended_ = true;
  for (std::uint32_t host = 1; host < hosts(); ++host) send(host, RunEnded{exit_code, reason});
  // An agent disconnects when it has received RunEnded. If host 0 closed the connection earlier, libzmq might drop the
  // message.
  const auto all_left = [this] {
    for (std::uint32_t host = 1; host < hosts(); ++host) {
      if (send(host, HostBeat{})) return false;
    }
    return true;
  };
  const auto end = std::chrono::steady_clock::now() + kFarewell;
  while (!all_left() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kLook);
}

std::string HostDoor::own_address() const {
  for (std::uint32_t host = 1; host < hosts(); ++host) {
    if (joined_[host] && is_own_address(joined_[host]->join.reached)) return joined_[host]->join.reached;
  }
  // The agents use an address that does not belong to this machine, such as that of a Kubernetes service.
  return address_towards(joined(1).address);
}

void HostDoor::receive() {
  while (const auto frames = socket_->receive()) {
    if (frames->size() != 3) continue;
    const std::string& peer = frames->front();
    try {
      if ((*frames)[1] == Join::kTypeName) {
        Join join;
        decode(join, std::as_bytes(std::span((*frames)[2])));
        on_join(peer, join);
        continue;
      }
      const auto host = host_of(peer);
      if (host == joined_.end()) continue;
      messages_.handle(static_cast<std::uint32_t>(host - joined_.begin()), (*frames)[1], (*frames)[2]);
    } catch (const Error& error) {
      if (error.code() != Code::kCorrupt) throw;
      handle_broken(peer, printable_line((*frames)[1]), error.what());
    }
  }
}

/// Throws if the message is from a host that has joined, because the run cannot continue without its messages. Messages
/// of other hosts are only reported.
void HostDoor::handle_broken(const std::string& peer, const std::string& type, const std::string& reason) {
  const auto host = host_of(peer);
  if (host != joined_.end() && type != Join::kTypeName) {
    throw Error(Code::kCorrupt, "{} sent a {} that is not allowed: {}", describe_joined((*host)->join), type, reason);
  }
  if (type == Join::kTypeName) refuse_unreadable(peer);
  if (console_ != nullptr) console_->say(fmt::format("another host sent a broken {}", type));
}

std::vector<std::optional<HostDoor::Joined>>::const_iterator HostDoor::host_of(const std::string& peer) const {
  return std::ranges::find_if(joined_, [&](const auto& one) { return one && one->peer == peer; });
}

void HostDoor::on_join(const std::string& peer, const Join& join) {
  JoinAnswer answer{.silence_ms = static_cast<std::uint64_t>(settings_.silence.count())};
  answer.other_job = join.job != settings_.self.job;
  if (!answer.other_job) answer.reason = object_to(peer, join);
  answer.accepted = !answer.other_job && answer.reason.empty();
  if (answer.accepted && !joined_[join.host]) {
    joined_[join.host] = Joined{peer, join};
    if (console_ != nullptr) say_joined(join);
  } else if (!answer.reason.empty() && console_ != nullptr) {
    console_->say(fmt::format("{} is refused: it {}", describe_joined(join), answer.reason));
  }
  socket_->send({peer, JoinAnswer::kTypeName, body_of_message(answer)});
}

void HostDoor::say_joined(const Join& join) const {
  console_->say(fmt::format("{} has joined", describe_joined(join)));
  const std::int64_t now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  for (const std::string& remark : remarks_on(settings_.self, join, now)) {
    console_->say(fmt::format("warning: {} {}", describe_joined(join), remark));
  }
}

// In another version of Trainyard, the message Join may have other fields, so it cannot be decoded.
void HostDoor::refuse_unreadable(const std::string& peer) {
  const JoinAnswer answer{
      .reason = fmt::format("sent a Join that host 0, which speaks version {} of the protocol between hosts, cannot "
                            "read; install the same version of Trainyard on all hosts",
                            kHostProtocol)};
  socket_->send({peer, JoinAnswer::kTypeName, body_of_message(answer)});
}

// An agent repeats its Join until it is answered, so the same agent can ask twice.
std::string HostDoor::object_to(const std::string& peer, const Join& join) {
  if (std::string objection = objection_to(settings_.self, join); !objection.empty()) return objection;
  std::optional<Joined>& there = joined_[join.host];
  if (!there || there->peer == peer) return "";
  return fmt::format("has the same number as {}, which has already joined", describe_joined(there->join));
}

}  // namespace trainyard::launch
