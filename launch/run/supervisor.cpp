// SPDX-License-Identifier: Apache-2.0
#include "launch/run/supervisor.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "launch/hosts/host_door.h"
#include "launch/run/process_tree.h"
#include "launch/run/seconds.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

/// The number of lines of a failed process that are printed again. They are enough to show an error with its context,
/// but few enough that the reason above them stays visible.
constexpr std::size_t kReportedLines = 15;

/// Removes the name at the beginning of a component's error, because the report already contains it.
std::string without_name(const std::string& error, const std::string& component) {
  const std::string name = fmt::format("component '{}': ", component);
  return error.starts_with(name) ? error.substr(name.size()) : error;
}

/// Returns the reported state. Throws for an unknown word, which the control channel reports like a message that cannot
/// be decoded.
State reported_state(const StateChanged& change) {
  try {
    return from_name<State>(change.state);
  } catch (const Error& error) {
    throw Error(Code::kCorrupt, error.what());
  }
}

}  // namespace

Supervisor::Supervisor(const Plan& plan, const LaunchOptions& options, const GuardLink& guard)
    : blocked_({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}),
      run_(plan, options, guard,
           {.ended = [this](ChildProcess& child, int status) { on_end(child, status); },
            .changed = [this](ChildProcess& child, int status) { watch_.on_changed(child, status); }}),
      guard_(guard),
      signals_(run_.loop, blocked_, [this](int signal) { on_signal(signal); }),
      heartbeats_(run_.loop, options.silence, [this](const std::string& sentence) { run_.console.say(sentence); }),
      watch_(run_, [this](const std::string& what) { fail(what); }),
      start_(run_, [this](const std::string& reason) { fail(reason); }),
      stop_(run_, {.failed =
                       [this](const std::string& what) {
                         outcome_.fail(what);
                         run_.console.say(what);
                       },
                   .gone = [this] { run_.loop.quit(); },
                   .standstill = [this] { return watch_.standstill(); }}),
      registry_(run_, outcome_),
      journal_(run_) {
  ::signal(SIGPIPE, SIG_IGN);  // The run must not end if a reader of its output closes the pipe.
  ::signal(SIGTTOU, SIG_IGN);  // The launcher can write to the terminal although only the guard is in the foreground.
  listen();
  if (options.hosts == nullptr) return;
  hosts_ = std::make_unique<RemoteHosts>(
      *options.hosts, run_,
      RemoteHosts::Reports{
          .lost = [this](std::uint32_t host, const std::string& reason) { on_host_lost(host, reason); },
          // Engines often send a signal to all hosts, which counts as one request.
          .interrupted =
              [this](int signal) {
                if (!outcome_.interrupted()) on_interrupt(signal);
              }});
}

Supervisor::~Supervisor() = default;

// Connects the messages of processes with the parts of the launcher that handle them. External programs send no such
// messages.
void Supervisor::listen() {
  ControlChannel& control = run_.control;
  const auto known = [this](const std::string& process) {
    const ChildProcess* child = run_.crew.find(process);
    return child != nullptr && child->has_components();
  };
  control.on_any([this](const std::string& process) { heartbeats_.heard(process); });
  control.on<Hello>([=, this](const std::string& process, const Hello& hello) {
    if (known(process)) start_.on_hello(process, hello);
  });
  control.on<Configured>([=, this](const std::string& process, const Configured& configured) {
    if (known(process)) start_.on_configured(process, configured);
  });
  control.on<Connected>([=, this](const std::string& process, const Connected&) {
    if (known(process)) start_.on_connected(process);
  });
  control.on<StateChanged>(
      [this](const auto& process, const StateChanged& change) { on_state_changed(process, change); });
  control.on<RunFinished>([=, this](const std::string& process, const RunFinished& finished) {
    if (known(process)) on_finished(finished);
  });
  control.on<Heartbeat>([](const auto&, const Heartbeat&) {});
  control.on<Reply>([this](const auto&, const Reply& reply) { run_.calls.answered(reply.id, reply.ok, reply.body); });
  control.on<Request>([this](const auto& process, const Request& request) { registry_.forward(process, request); });
}

int Supervisor::run() {
  if (guard_.alive() >= 0) {
    // If the guard dies, the run is ended immediately, because there is no process that would clean up after the
    // launcher.
    run_.loop.watch_file(guard_.alive(), [this] {
      outcome_.fail("the guard was killed, so nobody would clean up after the launcher; all processes are ended");
      run_.loop.quit();
    });
  }
  // While the launcher is stopped by a signal, processes that print or end have to wait for it, so the guard limits
  // this time.
  guard_.set_patience(run_.plan.progress_timeout.count() == 0
                          ? std::chrono::milliseconds(0)
                          : std::min(run_.plan.progress_timeout, run_.options.stopped));
  // run.json is written before the first process is started, so that clients can already ask what the run is waiting
  // for.
  run_.directory.announce(run_.plan.run, run_.plan.file, registry_.endpoint());
  try {
    if (hosts_) hosts_->begin();
    start_.begin();
  } catch (const Error& error) {
    fail(error.what());
  }
  // The journal is written after the processes have been started, so that the start does not wait for the disk.
  journal_.begin();
  run_.loop.run();
  // Kills processes that programs have left behind, and all remaining processes if the guard is dead.
  kill_descendants();
  journal_.end(outcome_);
  run_.console.say(outcome_.last_words());
  if (hosts_) run_.options.hosts->end_all(outcome_.exit_code(), outcome_.last_words());
  guard_.will_exit(outcome_.exit_code());
  return outcome_.exit_code();
}

void Supervisor::on_signal(int signal) {
  if (signal == SIGCHLD) {
    run_.crew.reap();
  } else {
    on_interrupt(signal);
  }
}

// Some repeated signals are not a second request of the user: a terminal that is closed sends SIGHUP several times, an
// engine sends SIGUSR1 or SIGUSR2 both to the guard and to the launcher, and some tools send a signal both to a process
// and to its group.
void Supervisor::on_interrupt(int signal) {
  const std::string why = fmt::format("SIG{} came", ::sigabbrev_np(signal));
  const bool again = outcome_.interrupted();
  const bool notice = signal == SIGHUP || signal == SIGUSR1 || signal == SIGUSR2;
  if (again && (notice || run_.loop.now() - interrupted_ < run_.options.same_request)) return;
  // The second interrupt ends all processes immediately, and so does the first interrupt if the run is already ending
  // because of a failure.
  if (again || (!notice && run_.progress.stopping() && !outcome_.finished())) {
    run_.console.say(fmt::format("ending all processes now, because {}{}", why, again ? " again" : ""));
    stop_.force();
    outcome_.interrupt(why);
    outcome_.force();
    return;
  }
  outcome_.interrupt(why);
  interrupted_ = run_.loop.now();
  start_.cancel();
  if (!run_.progress.stopping()) {
    run_.console.say(
        fmt::format("stopping, because {}; Ctrl-C or SIGTERM once more to end all processes at once", why));
  }
  stop_.interrupt();
}

void Supervisor::on_state_changed(const std::string& process, const StateChanged& change) {
  const State reported = reported_state(change);
  const auto& components = run_.plan.components;
  const auto component = std::ranges::find(components, change.component, &ComponentPlan::name);
  if (component == components.end() || component->process != process) {
    // If a process has failed to create its components, the error names the process.
    if (reported == State::kError)
      fail(fmt::format("process '{}' failed: {}", process, change.error), run_.crew.find(process));
    return;
  }
  KnownState& state = run_.states[component->index];
  // A failure of a component is reported only once.
  const bool failed_now = reported == State::kError && state != State::kError;
  state = reported;
  if (failed_now) {
    fail(fmt::format("{} failed: {}", describe_component(*component), without_name(change.error, component->name)),
         run_.crew.find(process));
  }
  start_.on_state_changed();
  stop_.on_state_changed();
}

void Supervisor::on_finished(const RunFinished& finished) {
  // Several components may report that the run is finished. Only the first report counts.
  if (outcome_.finished()) return;
  // The reason is printed at the very end, after the output of all processes.
  outcome_.finish(finished.reason, finished.success);
  // A run may finish before it has started completely, for example if a component immediately refuses to run.
  start_.cancel();
  stop_.finish();
}

// Informs all parts of the launcher that wait for the process or keep data about it, before any decision is made.
void Supervisor::mark_gone(const ChildProcess& child) {
  heartbeats_.forget(child.name());
  watch_.on_gone(child.name());
  if (!child.has_components()) return;
  for (const std::uint32_t component : run_.components_of(child.name())) {
    KnownState& state = run_.states[component];
    if (state != State::kFinalized && state != State::kError) state = kGone;
  }
  run_.calls.process_gone(child.name());
  run_.send_to_all(PeerGone{child.name(), child.index(), child.last_pid()}, child.name());
  start_.on_gone(child.name());
}

void Supervisor::on_end(ChildProcess& child, int wait_status) {
  // These values must be read before mark_gone() changes the states.
  const bool was_starting = child.has_components() && run_.progress.starting();
  // True if a component of the process has failed. This was already reported, and the end of the process is only a
  // consequence.
  const bool failed_before = std::ranges::any_of(run_.components_of(child.name()),
                                                 [this](std::uint32_t i) { return run_.states[i] == State::kError; });
  mark_gone(child);
  if (run_.progress.stopping()) {
    ended_while_stopping(child, wait_status, failed_before);
  } else if (!was_starting && child.may_restart(is_failure(wait_status))) {
    // A process is restarted only if the run has started. A process that dies during the start would most likely die
    // again.
    run_.console.say(fmt::format("{} {}; it starts again in {} s", describe_process(run_, child),
                                 describe_wait_status(wait_status), in_seconds(child.planned().respawn.delay)));
    run_.crew.start_later(child, [this, &child](const std::string& reason) { fail(reason, &child); });
  } else {
    ended_for_good(child, wait_status);
  }
  stop_.on_gone();
}

// A process that was asked to end by a signal may be killed by this signal, or end with the exit code that stands for
// it. Neither is a failure.
void Supervisor::ended_while_stopping(ChildProcess& child, int wait_status, bool failed_before) {
  if (!is_failure(wait_status)) return;
  const std::string what = fmt::format("{} {}", describe_process(run_, child), describe_wait_status(wait_status));
  if (child.has_components()) {
    if (!child.being_ended() && !failed_before) fail(what, &child);
    return;
  }
  if (child.was_deaf()) {
    run_.console.say(fmt::format("{}, because it did not end when it was asked to", what));
    return;
  }
  const bool as_asked = child.being_ended() && ended_by(wait_status, {SIGINT, SIGTERM});
  if (as_asked) return;
  const std::string late = fmt::format("{} after the end of the run", what);
  if (child.planned().required) return fail(late, &child);
  run_.console.say(late);
}

// An external program may end with code 0 at any time. A process with components must not end while the run continues.
void Supervisor::ended_for_good(ChildProcess& child, int wait_status) {
  // For example: "process 'main' (optimizer, logger) was killed by signal 9 (Killed)".
  const std::string what = fmt::format("{} {}", describe_process(run_, child), describe_wait_status(wait_status));
  const bool harmless = !child.has_components() && !is_failure(wait_status);
  // During the start, all processes wait for each other, so without this process the run would fail anyway at the
  // deadline.
  const bool awaited = child.has_components() && run_.progress.starting();
  if (!harmless && (child.planned().required || awaited)) {
    fail(what, &child);
  } else {
    run_.console.say(what);
    check_programs_done();
  }
}

/// Ends a run that consists only of external programs when the last program has ended.
void Supervisor::check_programs_done() {
  if (run_.plan.components.empty() && run_.crew.all_done()) stop_.finish();
}

// The launcher no longer learns what happens on this host, so all its processes count as gone, as if they had been
// reaped.
void Supervisor::on_host_lost(std::uint32_t host, const std::string& reason) {
  for (const auto& child : run_.crew.children()) {
    if (child->planned().host != host || !child->running()) continue;
    child->reaped();
    mark_gone(*child);
  }
  fail(reason);
  stop_.on_gone();
}

void Supervisor::fail(const std::string& reason, ChildProcess* process) {
  outcome_.fail(reason);
  // The last lines of the process may not have been read yet.
  if (process != nullptr) process->read_now();
  run_.console.say(reason);
  if (process != nullptr && !process->last_lines().empty()) {
    const auto& lines = process->last_lines();
    run_.console.say(fmt::format("the last lines of '{}':", process->name()));
    for (std::size_t i = lines.size() - std::min(lines.size(), kReportedLines); i < lines.size(); ++i) {
      run_.console.line("    ", lines[i], true);
    }
  }
  start_.cancel();
  // After the first failure, the components may still be able to save their state. If this is not possible, or after
  // another failure, the run is aborted.
  if (!stop_.rescue()) stop_.abort();
}

}  // namespace trainyard::launch
