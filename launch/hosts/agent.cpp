// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/agent.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "launch/run/process_tree.h"
#include "launch/run/seconds.h"
#include "messages/printable.h"

namespace trainyard::launch {
namespace {

constexpr int kExitInterrupted = 130;

/// Tells the guard about the run directory before it is made, and returns the name of the run.
std::string announced_directory(const Plan& plan, const LaunchOptions& options, const GuardLink& guard) {
  std::string run = run_name(plan.run, ::getpid());
  guard.will_make(options.base + "/" + run);
  return run;
}

HostSettings with_directory(HostSettings settings, const RunDirectory& directory, const LaunchOptions& options) {
  settings.self.run_directory = directory.path();
  settings.self.plugin_path = options.plugin_path;
  return settings;
}

}  // namespace

Agent::Agent(const Plan& plan, const HostSettings& settings, const LaunchOptions& options, const GuardLink& guard)
    : blocked_({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}),
      options_(options),
      guard_(guard),
      directory_(options.base, announced_directory(plan, options, guard)),
      settings_(with_directory(settings, directory_, options)),
      signals_(loop_, blocked_, [this](int signal) { on_signal(signal); }) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGTTOU, SIG_IGN);
}

int Agent::run() {
  if (guard_.alive() >= 0) {
    loop_.watch_file(guard_.alive(), [this] { end(1, "the guard was killed; all processes are ended"); });
  }
  search_.emplace(loop_, console_, sockets_, settings_,
                  HostSearch::Reports{
                      .accepted = [this](HostLink& link, auto silence) { on_accepted(link, silence); },
                      .failed = [this](const std::string& reason) { end(1, reason); },
                  });
  if (!exit_code_) loop_.run();
  kill_descendants();
  guard_.will_exit(exit_code_.value_or(1));
  return exit_code_.value_or(1);
}

void Agent::on_accepted(HostLink& link, std::chrono::milliseconds silence) {
  link_ = &link;
  console_.say(fmt::format("host {} has joined host 0 at {}", settings_.self.host, link.endpoint()));
  link.messages().on<HostBeat>([](const HostBeat&) {});
  link.messages().on<HostPart>([this](const HostPart& part) { on_part(part); });
  link.messages().on<HostNote>([this](const HostNote& note) {
    if (notes_) notes_->add(note);
  });
  link.messages().on<TunnelPart>([this](const TunnelPart& part) {
    if (tunnels_) tunnels_->handle(part);
  });
  link.messages().on<StartProcess>([this](const StartProcess& request) {
    if (processes_) processes_->start(request.index);
  });
  link.messages().on<SignalProcess>([this](const SignalProcess& request) {
    if (processes_) processes_->signal(request.index, request.signal);
  });
  link.messages().on<RunEnded>([this](const RunEnded& ended) { end(ended.exit_code, printable(ended.reason)); });
  beat(silence);
}

void Agent::on_part(const HostPart& part) {
  if (processes_) return;
  notes_.emplace(loop_, directory_.path() + "/rendezvous", [this](const HostNote& note) { link_->send(note); });
  tunnels_.emplace(loop_, settings_.self.host, directory_.path(),
                   [this](const TunnelPart& tunnel) { return link_->send(tunnel); });
  for (const Entrance& entrance : part.entrances) tunnels_->open_entrance(entrance);
  processes_.emplace(loop_, part,
                     CrewOptions{.process_program = options_.process_program,
                                 .control_endpoint = part.control,
                                 .run = directory_.run(),
                                 .run_directory = directory_.path(),
                                 .keys = part.keys,
                                 .flush_denormals = part.flush_denormals,
                                 .engine_signals = options_.engine_signals},
                     *link_);
}

void Agent::beat(std::chrono::milliseconds most_silence) {
  if (exit_code_) return;
  const auto silent = loop_.now() - link_->heard();
  if (!link_->send(HostBeat{})) {
    end(1, "run failed: host 0 has closed the connection; the processes of this host are ended");
  } else if (silent > most_silence) {
    end(1, fmt::format("run failed: nothing has been heard from host 0 for {:.0f} s; the processes of this host are "
                       "ended",
                       in_seconds(silent)));
  } else {
    loop_.after(kHostBeat, [this, most_silence] { beat(most_silence); });
  }
}

// The first signal is reported to host 0, which decides how the run stops. A second signal ends the processes of this
// host immediately, unless it is SIGHUP, SIGUSR1 or SIGUSR2.
void Agent::on_signal(int signal) {
  if (signal == SIGCHLD) {
    if (processes_) reap();
    return;
  }
  const std::string why = fmt::format("SIG{} came", ::sigabbrev_np(signal));
  const bool notice = signal == SIGHUP || signal == SIGUSR1 || signal == SIGUSR2;
  const bool again = interrupted_ && loop_.now() - *interrupted_ > options_.same_request;
  if (interrupted_ && (!again || notice)) return;
  if (again || !processes_) return end(kExitInterrupted, fmt::format("ended, because {}", why));
  interrupted_ = loop_.now();
  console_.say(fmt::format("asking host 0 to stop the run, because {}", why));
  link_->send(HostInterrupted{signal});
}

// A process may have said its last words to visitors. They must arrive before the launcher hears that it has ended, and
// perhaps ends the run.
void Agent::reap() {
  while (tunnels_->serve()) {
  }
  processes_->reap();
}

void Agent::end(int exit_code, const std::string& reason) {
  if (exit_code_) return;
  exit_code_ = exit_code;
  if (!reason.empty()) console_.say(reason);
  loop_.quit();
}

}  // namespace trainyard::launch
