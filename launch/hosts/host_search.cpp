// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_search.h"

#include <fmt/format.h>

#include "launch/hosts/addresses.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::launch {
namespace {

std::string ports_text(const std::vector<std::uint16_t>& ports) {
  if (ports.size() == 1) return fmt::format("port {}", ports.front());
  return fmt::format("the ports {} to {}", ports.front(), ports.back());
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
                                       std::chrono::duration<double>(settings_.join_timeout).count(), state()));
  }
  if (now >= remind_) {
    console_.say(fmt::format("host {} is waiting for host 0: {}", join_.host, state()));
    remind_ = now + settings_.reminder;
  }
  try {
    if (links_.empty()) open_links();
    ask();
  } catch (const Error& error) {
    // A name may become known later, for instance that of a Kubernetes pod.
    problem_ = error.what();
  }
  timer_ = loop_.after(kHostBeat, [this] { try_again(); });
}

std::string HostSearch::state() {
  if (!problem_.empty()) return problem_;
  const std::string& host = settings_.meeting.host;
  const bool itself = is_loopback(join_.reached) && host != join_.reached && host != "localhost";
  const std::string place = fmt::format("{} ({}{}), {}", host, join_.reached,
                                        itself ? ", which is this machine itself: look at /etc/hosts" : "",
                                        ports_text(settings_.meeting.ports));
  const Probe probe = probe_ports(join_.reached, settings_.meeting.ports);
  switch (probe.answer) {
    case Probe::Answer::kOpen:
      return fmt::format("nobody with the same key answers at {}", place);
    case Probe::Answer::kRefused:
      return fmt::format("nobody listens at {}: connections are refused", place);
    case Probe::Answer::kSilent:
      return fmt::format("nothing comes back from {}; the address can be wrong, or a firewall drops packets", place);
    case Probe::Answer::kUnreachable:
      break;
  }
  return fmt::format("there is no way to {}: {}", place, probe.problem);
}

void HostSearch::open_links() {
  join_.reached = resolve_host(settings_.meeting.host);
  join_.address = address_towards(join_.reached);
  problem_.clear();
  for (const std::uint16_t port : settings_.meeting.ports) {
    links_.push_back(
        std::make_unique<HostLink>(context_, loop_, fmt::format("tcp://{}:{}", join_.reached, port), settings_.key));
    HostLink& link = *links_.back();
    link.messages().on<JoinAnswer>([this, &link](const JoinAnswer& answer) { on_answer(link, answer); });
    link.messages().on<RunEnded>([this](const RunEnded& ended) {
      if (!done_) reports_.failed(printable(ended.reason));
    });
  }
}

void HostSearch::ask() {
  join_.clock_ns = std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  for (const auto& link : links_) link->send(join_);
}

// No link is destroyed here, because this function is called by one.
void HostSearch::on_answer(HostLink& link, const JoinAnswer& answer) {
  if (done_ || answer.other_job) return;
  done_ = answer.accepted;
  if (done_) {
    loop_.cancel(timer_);
    timer_ = loop_.after(std::chrono::milliseconds(0),
                         [this, &link] { std::erase_if(links_, [&](const auto& one) { return one.get() != &link; }); });
    return reports_.accepted(link, std::chrono::milliseconds(answer.silence_ms));
  }
  reports_.failed(fmt::format("host 0, at {}, does not accept host {}: it {}", link.endpoint(), join_.host,
                              printable(answer.reason)));
}

}  // namespace trainyard::launch
