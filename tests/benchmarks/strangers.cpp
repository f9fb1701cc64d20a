// SPDX-License-Identifier: Apache-2.0
// Measures how long the round trips of an admitted client take at the port of host 0 and at a front door: before
// strangers come, while 10,000 of them connect, while they stay, and, at the front door, while a visitor does not read
// its answers. Prints the time within which 99 of 100 round trips were complete.
//
//     trainyard_benchmark_strangers [REPETITIONS]
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "components/front_door/reception.h"
#include "core/testing/flood.h"
#include "core/testing/temporary_folder.h"
#include "core/transport/connection_limit.h"
#include "core/transport/frames.h"
#include "launch/hosts/addresses.h"
#include "launch/hosts/host_door.h"
#include "launch/hosts/host_link.h"
#include "launch/hosts/join_check.h"

namespace trainyard {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr int kConnections = 10'000;
constexpr auto kAttack = 4s;
constexpr auto kWhile = 2s;
constexpr std::uint16_t kPort = 29873;

/// Makes round trips until `enough`, and prints their 99th percentile.
void measure(const std::string& name, const std::function<void()>& round_trip, const std::function<bool()>& enough) {
  std::vector<std::chrono::microseconds> times;
  do {
    const auto begin = Clock::now();
    round_trip();
    times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin));
  } while (!enough());
  const auto p99 = testing::slow_percentile(times);
  fmt::print("{{\"name\": \"{}\", \"median_ns\": {}, \"p99_ns\": {}, \"round_trips\": {}}}\n", name,
             times[times.size() / 2].count() * 1000, p99.count() * 1000, times.size());
}

std::function<bool()> after(std::chrono::milliseconds time) {
  return [end = Clock::now() + time] { return Clock::now() >= end; };
}

void attack(const std::string& what, std::uint16_t port, const std::function<void()>& round_trip) {
  measure(what + " before", round_trip, after(kWhile));
  testing::Flood flood(port, kConnections, kAttack);
  measure(what + " while strangers come", round_trip, [&] { return flood.done(); });
  measure(what + " while strangers stay", round_trip, after(kWhile));
}

void measure_host_0() {
  launch::Plan plan;
  plan.hosts = 2;
  launch::HostSettings settings{
      .self = launch::describe_launch(plan, {}), .meeting = {"127.0.0.1", {kPort}}, .key = core::RunKeys::make()};
  settings.self.host_name = "here";
  launch::PollLoop loop;
  zmq::context_t context;
  launch::HostDoor door(plan, settings);
  door.messages().on<launch::HostNote>(
      [&](std::uint32_t host, const launch::HostNote&) { door.send(host, launch::HostBeat{}); });
  door.serve(loop);
  launch::HostLink link(context, loop, launch::tcp_endpoint("127.0.0.1", std::to_string(kPort)), settings.key);
  std::uint64_t answers = 0;
  bool joined = false, asked = false;
  link.messages().on<launch::HostBeat>([&](const launch::HostBeat&) { ++answers; });
  link.messages().on<launch::JoinAnswer>([&](const launch::JoinAnswer& answer) { joined |= answer.accepted; });
  launch::Join join = settings.self;
  join.host = 1;
  for (; !joined; loop.run_once(10ms)) asked = asked || link.send(join);
  attack("an agent", kPort, [&] {
    link.send(launch::HostNote{"note", std::string(100, 'x')});
    for (const std::uint64_t before = answers; answers == before;) loop.run_once(10ms);
  });
  door.stop_serving();
}

/// The registry of a run that answers every question; the answer to "run" is long.
void answer_questions(zmq::socket_t& registry, const std::atomic<bool>& stopping) {
  while (!stopping) {
    zmq::pollitem_t item{registry.handle(), 0, ZMQ_POLLIN, 0};
    zmq::poll(&item, 1, 50ms);
    core::Frames frames;
    while (core::receive_frames(registry, frames)) {
      const json question = json::parse(frames.at(1).to_string_view());
      const json result = question["op"] == "run" ? json(std::string(60'000, 'x')) : json::array();
      core::Frames answer;
      answer.emplace_back(frames[0].to_string_view());
      answer.emplace_back(std::string_view(json({{"id", question["id"]}, {"ok", true}, {"result", result}}).dump()));
      core::send_frames(registry, answer);
    }
  }
}

void measure_front_door() {
  using core::Key;
  const Key host = Key::make("host", core::Role::kMember), own = Key::make("laptop", core::Role::kWatch);
  const testing::TemporaryFolder folder;
  const std::string address = "ipc://" + folder.path("registry");
  zmq::context_t inside, outside;
  zmq::socket_t registry = core::make_socket(inside, zmq::socket_type::router);
  registry.bind(address);
  std::atomic<bool> stopping{false};
  std::jthread answers([&] { answer_questions(registry, stopping); });
  core::EventLoop loop("door");
  core::AllowList allowed;
  allowed.add(own);
  front_door::Reception door(loop, "tcp://127.0.0.1:*", host, std::move(allowed), [](const std::string&) {});
  door.open(address);
  std::jthread serving([&] {
    while (!stopping) {
      if (!loop.run_once()) loop.wait(50ms);
    }
  });
  const auto visitor = [&] {
    zmq::socket_t socket = core::make_socket(outside, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::curve_publickey, own.text);
    socket.set(zmq::sockopt::curve_secretkey, own.secret);
    socket.set(zmq::sockopt::curve_serverkey, host.text);
    return socket;
  };
  zmq::socket_t good = visitor();
  good.connect(door.endpoint());
  std::uint64_t id = 0;
  const auto round_trip = [&] {
    good.send(zmq::buffer(json({{"id", ++id}, {"op", "nodes"}}).dump()), zmq::send_flags::none);
    zmq::message_t answer;
    while (!good.recv(answer) || answer.size() == 0) {
    }
  };
  round_trip();
  const std::string& endpoint = door.endpoint();
  attack("a visitor", static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))), round_trip);
  zmq::socket_t lazy = visitor();
  lazy.set(zmq::sockopt::rcvhwm, 1);
  lazy.connect(endpoint);
  std::jthread asking([&] {
    for (; !stopping; std::this_thread::sleep_for(2ms))
      lazy.send(zmq::buffer(json({{"id", 1}, {"op", "run"}}).dump()), zmq::send_flags::none);
  });
  // Until the other one has as many unread bytes as it may have. Its further questions are ignored.
  for (const auto full = after(3 * kWhile); !full();) round_trip();
  measure("a visitor while another does not read", round_trip, after(kWhile));
  stopping = true;
}

}  // namespace
}  // namespace trainyard

int main(int count, char** words) {
  trainyard::core::raise_descriptor_limit();
  for (int i = count > 1 ? std::atoi(words[1]) : 1; i > 0; --i) {
    trainyard::measure_host_0();
    trainyard::measure_front_door();
  }
}
