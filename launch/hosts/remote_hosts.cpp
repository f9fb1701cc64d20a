// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/remote_hosts.h"

#include <fmt/format.h>

#include "launch/hosts/addresses.h"
#include "launch/hosts/join_check.h"
#include "launch/run/gateway_address.h"
#include "launch/run/seconds.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::launch {
namespace {

constexpr std::size_t kMostLineBytes = 64 << 10;

}  // namespace

RemoteHosts::RemoteHosts(HostDoor& door, RunContext& run, Reports reports)
    : door_(door),
      run_(run),
      reports_(std::move(reports)),
      processes_(door.hosts()),
      heard_(door.hosts(), run.loop.now()),
      notes_(run.loop, run.directory.path() + "/rendezvous", [this](const HostNote& note) { spread(note, 0); }),
      tunnels_(run.loop, 0, run.directory.path(), [this](const TunnelPart& part) { return route(part); }) {
  for (std::uint32_t host = 1; host < door_.hosts(); ++host)
    processes_[host] = std::make_unique<Processes>(*this, host);
  for (const auto& child : run_.crew.children()) {
    if (child->planned().host != 0) child->live_on(*processes_.at(child->planned().host));
  }
  set_places();
  listen();
  door_.serve(run_.loop);
  timer_ = run_.loop.after(kHostBeat, [this] { beat(); });
}

RemoteHosts::~RemoteHosts() {
  run_.loop.cancel(timer_);
  door_.stop_serving();
}

void RemoteHosts::set_places() {
  run_.places.front().address = door_.own_address();
  for (std::uint32_t host = 1; host < door_.hosts(); ++host) {
    const Join& join = door_.joined(host);
    run_.places.push_back(
        {.run_directory = join.run_directory, .plugin_path = join.plugin_path, .address = join.address});
  }
}

void RemoteHosts::listen() {
  on<HostBeat>([](std::uint32_t, const HostBeat&) {});
  on<HostNote>([this](std::uint32_t host, const HostNote& note) {
    notes_.add(note);
    spread(note, host);
  });
  on<TunnelPart>([this](std::uint32_t host, const TunnelPart& part) {
    if ((part.to_far ? part.near_host : part.far_host) != host) {
      throw Error(Code::kCorrupt, "host {} has not opened the tunnel between the hosts {} and {}", host, part.near_host,
                  part.far_host);
    }
    route(part);
  });
  on<HostInterrupted>(
      [this](std::uint32_t, const HostInterrupted& interrupted) { reports_.interrupted(interrupted.signal); });
  on<ProcessStarted>([this](std::uint32_t host, const ProcessStarted& started) {
    process(host, started.index).started_remotely(started.pid);
  });
  on<ProcessLine>([this](std::uint32_t host, const ProcessLine& line) {
    process(host, line.index).add_line(line.text.substr(0, kMostLineBytes), line.from_stderr);
  });
  on<ProcessChanged>([this](std::uint32_t host, const ProcessChanged& change) { on_changed(host, change); });
}

ChildProcess& RemoteHosts::process(std::uint32_t host, std::uint32_t index) const {
  const auto& children = run_.crew.children();
  if (index < children.size() && children[index]->planned().host == host) return *children[index];
  throw Error(Code::kCorrupt, "host {} has no process {}", host, index);
}

void RemoteHosts::on_changed(std::uint32_t host, const ProcessChanged& change) {
  ChildProcess& child = process(host, change.index);
  if (!child.running()) return;
  if (!change.problem.empty()) {
    run_.console.say(fmt::format("process '{}' on {}: {}", child.name(), describe(host), printable(change.problem)));
  }
  run_.crew.note(child, change.status);
}

void RemoteHosts::begin() {
  const std::string control = run_.control.listen_at(tcp_endpoint(run_.places.front().address, "*"), run_.keys);
  for (const Entrance& entrance : entrances_of(0)) tunnels_.open_entrance(entrance);
  for (std::uint32_t host = 1; host < door_.hosts(); ++host) door_.send(host, part_of(host, control));
}

HostPart RemoteHosts::part_of(std::uint32_t host, const std::string& control) const {
  HostPart part{
      .run = run_.plan.run, .keys = run_.keys.text(), .control = control, .flush_denormals = run_.plan.flush_denormals};
  for (const auto& child : run_.crew.children()) {
    const PlannedProcess& planned = child->planned();
    if (planned.host != host) continue;
    part.processes.push_back({.index = child->index(),
                              .name = planned.name,
                              .command = planned.command,
                              .member = planned.member,
                              .parameters = planned.parameters,
                              .environment = planned.environment,
                              .cpus = planned.cpus});
  }
  if (has_entrances(run_, host)) part.entrances = entrances_of(host);
  return part;
}

std::vector<Entrance> RemoteHosts::entrances_of(std::uint32_t host) const {
  std::vector<Entrance> entrances;
  for (const auto& child : run_.crew.children()) {
    if (!child->has_components() || child->planned().host == host) continue;
    entrances.push_back({.process = child->index(), .host = child->planned().host});
  }
  return entrances;
}

// Only the launcher knows the addresses of gateways, so a host can ask for nothing else. Without an address, the far
// host answers that the tunnel is closed.
bool RemoteHosts::route(TunnelPart part) {
  const std::uint32_t to = part.to_far ? part.far_host : part.near_host;
  if (to >= door_.hosts() || gone_.contains(to)) return false;
  part.gateway.clear();
  const auto& children = run_.crew.children();
  if (part.opens && part.process < children.size() && children[part.process]->planned().host == part.far_host) {
    const std::string& name = children[part.process]->name();
    const StartBarrier::Endpoints endpoints = run_.barrier.endpoints_of(name);
    if (const auto gateway = endpoints.find(name + "/gateway"); gateway != endpoints.end())
      part.gateway = gateway->second;
  }
  if (to != 0) return door_.send(to, part);
  tunnels_.handle(part);
  return true;
}

void RemoteHosts::say_refused() {
  if (tunnels_.refused() == said_refused_) return;
  run_.console.say(
      fmt::format("{} connections of visitors to processes of other hosts were refused; at most {} to each "
                  "host are allowed",
                  tunnels_.refused() - said_refused_, Tunnels::kMost));
  said_refused_ = tunnels_.refused();
}

void RemoteHosts::spread(const HostNote& note, std::uint32_t from) {
  for (std::uint32_t host = 1; host < door_.hosts(); ++host) {
    if (host != from && !gone_.contains(host)) door_.send(host, note);
  }
}

void RemoteHosts::beat() {
  timer_ = run_.loop.after(kHostBeat, [this] { beat(); });
  say_refused();
  door_.say_refusals(run_.console);
  for (std::uint32_t host = 1; host < door_.hosts(); ++host) {
    if (gone_.contains(host)) continue;
    const auto silent = run_.loop.now() - heard_[host];
    if (!door_.send(host, HostBeat{})) {
      lose(host, "its agent has closed the connection");
    } else if (silent > door_.settings().silence) {
      lose(host, fmt::format("nothing has been heard from it for {:.0f} s", in_seconds(silent)));
    }
  }
}

void RemoteHosts::lose(std::uint32_t host, const std::string& reason) {
  gone_.insert(host);
  tunnels_.lose(host);
  reports_.lost(host, fmt::format("{} is lost, with {}: {}", describe(host), describe_ranks(run_.plan, host), reason));
}

std::string RemoteHosts::describe(std::uint32_t host) const { return describe_joined(door_.joined(host)); }

}  // namespace trainyard::launch
