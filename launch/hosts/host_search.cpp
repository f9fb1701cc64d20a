// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/keys/key.h"
#include "launch/hosts/addresses.h"
#include "launch/run/seconds.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::launch {
namespace {

/// How often the agent checks whether it is connected, so that it can send its Join. Checking takes hardly any time.
constexpr std::chrono::milliseconds kBetweenTries{50};
/// How long before a reminder, and before it gives up, the agent begins to find out why nobody answers. This is longer
/// than one second, after which TCP sends a lost packet again.
constexpr std::chrono::milliseconds kLookAhead{1'500};

/// Throws if the name of host 0 stands for a loopback address, as on machines whose /etc/hosts contains such an entry.
/// The agent would then wait for itself.
void check_loopback(const HostSettings& settings, const std::string& reached) {
  const std::string& name = settings.meeting.host;
  if (!is_loopback(reached) || means_loopback(name) || name == settings.self.host_name) return;
  throw Error(Code::kInvalidArgument,
              "host {} cannot find host 0: on this host, the name '{}' means {}, which is this host itself; correct "
              "/etc/hosts, or set TRAINYARD_MEET_AT to an address of host 0 on every host",
              settings.self.host, name, reached);
}

}  // namespace

HostSearch::HostSearch(PollLoop& loop, RunConsole& console, zmq::context_t& context, const HostSettings& settings,
                       Reports reports)
    : loop_(loop),
      console_(console),
      context_(context),
      settings_(settings),
      reports_(std::move(reports)),
      join_(settings.self),
      deadline_(loop.now() + settings.join_timeout),
      remind_(loop.now() + settings.first_reminder) {
  try_again();
}

HostSearch::~HostSearch() { loop_.cancel(timer_); }

void HostSearch::try_again() {
  const auto now = loop_.now();
  if (now >= deadline_) {
    return reports_.failed(fmt::format("host {} did not find host 0 within {} s: {}", join_.host,
                                       in_seconds(settings_.join_timeout), state()));
  }
  try {
    if (connections_.empty() && now >= resolve_again_) find_host_0();
    ask(now);
  } catch (const Error& error) {
    if (error.code() == Code::kInvalidArgument) return reports_.failed(error.what());
    // It may be possible to resolve the name later, for instance that of a Kubernetes pod.
    problem_ = error.what();
    lookup_.reset();
    resolve_again_ = now + kHostBeat;
  }
  remind(now);
  timer_ = loop_.after(kBetweenTries, [this] { try_again(); });
}

void HostSearch::remind(PollLoop::Clock::time_point now) {
  if (now >= remind_) {
    console_.say(fmt::format("host {} is waiting for host 0: {}", join_.host, state()));
    remind_ = now + settings_.reminder;
    knock_.reset();
  }
  if (knock_ || connections_.empty() || now + kLookAhead < std::min(remind_, deadline_)) return;
  knock_.emplace(join_.reached, settings_.meeting.ports);
}

std::string HostSearch::state() {
  if (!problem_.empty()) return problem_;
  if (connections_.empty()) {
    return fmt::format(
        "the address of '{}' is not known yet: no name server has answered; check the network, or set "
        "TRAINYARD_MEET_AT to an address of host 0 on every host",
        settings_.meeting.host);
  }
  const std::string place = fmt::format("{} ({}{})", settings_.meeting.host, join_.reached,
                                        is_own_address(join_.reached) ? ", which is this host itself" : "");
  if (heard_other_job_) return fmt::format("at {}, only host 0 of another job or of another start answers", place);
  if (!knock_) return fmt::format("{} has not answered yet", place);
  const std::string fingerprint = core::PublicKey{.name = "host", .text = settings_.key.public_key}.fingerprint();
  return fmt::format("{} {}", place, knock_->finding(fmt::format("{} from {}", fingerprint, settings_.key_file)));
}

void HostSearch::find_host_0() {
  if (!lookup_) lookup_.emplace(settings_.meeting.host, settings_.resolve);
  if (const std::optional<std::string> address = lookup_->result()) connect(*address);
}

void HostSearch::connect(const std::string& address) {
  join_.reached = address;
  check_loopback(settings_, join_.reached);
  join_.address = address_towards(join_.reached);
  problem_.clear();
  for (const std::uint16_t port : settings_.meeting.ports) {
    const std::string endpoint = tcp_endpoint(join_.reached, std::to_string(port));
    connections_.push_back({std::make_unique<HostLink>(context_, loop_, endpoint, settings_.key), {}});
    HostLink& link = *connections_.back().link;
    link.messages().on<JoinAnswer>([this, &link](const JoinAnswer& answer) { on_answer(link, answer); });
    link.messages().on<RunEnded>([this](const RunEnded& ended) {
      if (!done_) reports_.failed(printable(ended.reason));
    });
  }
}

// Sends a Join over each connection, once a second, until there is an answer.
void HostSearch::ask(PollLoop::Clock::time_point now) {
  join_.clock_ns = std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  for (Connection& one : connections_) {
    if (now >= one.asked + kHostBeat && one.link->send(join_)) one.asked = now;
  }
}

// The other connections are destroyed later by a timer, because a link calls this function.
void HostSearch::on_answer(HostLink& link, const JoinAnswer& answer) {
  if (answer.other_job) heard_other_job_ = true;
  if (done_ || answer.other_job) return;
  done_ = answer.accepted;
  if (done_) {
    loop_.cancel(timer_);
    timer_ = loop_.after(std::chrono::milliseconds(0), [this, &link] {
      std::erase_if(connections_, [&](const Connection& one) { return one.link.get() != &link; });
    });
    return reports_.accepted(link, std::chrono::milliseconds(answer.silence_ms));
  }
  reports_.failed(fmt::format("host 0, at {}, does not accept host {}: it {}", link.endpoint(), join_.host,
                              printable(answer.reason)));
}

}  // namespace trainyard::launch
