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
      remind_(loop.now() + settings.reminder) {
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
  return fmt::format("nobody with the same key answers at {} ({}), {}", settings_.meeting.host, join_.reached,
                     ports_text(settings_.meeting.ports));
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
