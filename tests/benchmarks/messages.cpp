// SPDX-License-Identifier: Apache-2.0
// Measures the time that a message takes from one component to another, compared with plain libzmq in the same run.
//
// Prints one JSON object per measurement: {"name": ..., "median_ns": ...}. One-way times are half of a round trip.

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "core/edge/local_edge.h"
#include "core/memory/shared_pool.h"
#include "core/testing/pipe.h"
#include "core/transport/inlet.h"
#include "core/transport/outlet.h"
#include "messages/arena.h"

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;
using testing::NumberSource;
using testing::Pipe;

constexpr int kRounds = 2000;
constexpr int kWarmUp = 200;

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

void report(const char* name, std::vector<double> samples) {
  std::ranges::sort(samples);
  std::printf("{\"name\": \"%s\", \"median_ns\": %.0f, \"p99_ns\": %.0f}\n", name, samples[samples.size() / 2],
              samples[samples.size() * 99 / 100]);
  std::fflush(stdout);
}

/// Calls `round_trip` many times, and prints half of its median time.
void measure(const char* name, const std::function<void()>& round_trip) {
  std::vector<double> samples;
  for (int i = 0; i < kWarmUp + kRounds; ++i) {
    const auto start = Clock::now();
    round_trip();
    if (i >= kWarmUp) samples.push_back(nanoseconds(Clock::now() - start) / 2);
  }
  report(name, std::move(samples));
}

/// What is recorded about the components during a measurement.
enum class Watching { kNothing, kTimes, kSpans };

/// Measures the time of a message through the event loop of one thread, while activity times or spans are recorded, or
/// while nothing is recorded.
void measure_hop(const char* name, Watching watching) {
  constexpr int kBurst = 1000;
  class Counter final : public Component {
   public:
    explicit Counter(ComponentContext context) : Component(context) {}
    double sum = 0;
    Input<Scalar> in{*this, "numbers", "", [this](const auto& number) { sum += number->value; }};
  };
  Pipe pipe;
  Counter counter(pipe.context("counter"));
  core::LocalEdge edge(pipe.source.out, counter.in, pipe.loop, 0, Policy::kBlock, 2 * kBurst, 1 << 30);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  counter.transition(State::kInactive);
  counter.transition(State::kActive);
  core::LoopActivity& activity = pipe.loop.activity();
  for (Component* component : {static_cast<Component*>(&pipe.source), static_cast<Component*>(&counter)}) {
    activity.add(*component);
  }
  if (watching == Watching::kTimes) activity.start();
  if (watching == Watching::kSpans) activity.start_recording();
  std::vector<double> samples;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = Clock::now();
    for (int j = 0; j < kBurst; ++j) {
      auto number = pipe.source.out.loan();
      number->value = j;
      pipe.source.out.send(std::move(number));
      pipe.loop.run_once();
    }
    samples.push_back(nanoseconds(Clock::now() - start) / kBurst);
    // In a process, the control thread does this.
    core::SpanRecord span;
    while (activity.spans().ring() != nullptr && activity.spans().ring()->pop(span)) {
    }
  }
  report(name, std::move(samples));
}

std::string endpoint(const std::string& directory, const char* name) { return "ipc://" + directory + "/" + name; }

/// Keeps this thread, and the threads that it starts, on one core. Otherwise the time of a message would be 9 us or 40
/// us, depending on whether the scheduler runs both sides on one core or on two.
void stay_on_core(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core % std::max(1u, std::thread::hardware_concurrency()), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

/// Runs `body` in a child process on the second core. The child dies with this process. Returns its pid.
pid_t fork_child(const std::function<void()>& body) {
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  stay_on_core(1);
  body();
  ::_exit(0);
}

void end_child(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

void measure_raw(const std::string& directory, const char* name, std::size_t bytes) {
  const std::string address = endpoint(directory, "raw");
  const pid_t child = fork_child([&] {
    zmq::context_t context;
    zmq::socket_t socket(context, zmq::socket_type::pair);
    socket.connect(address);
    for (;;) {
      zmq::message_t message;
      if (socket.recv(message)) socket.send(message, zmq::send_flags::none);
    }
  });
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::pair);
  socket.bind(address);
  measure(name, [&] {
    zmq::message_t message(bytes);
    socket.send(message, zmq::send_flags::none);
    (void)socket.recv(message);
  });
  socket.close();
  end_child(child);
}

/// A component that sends blocks and receives the answers.
class Player final : public Component {
 public:
  Player(ComponentContext context, bool echoes) : Component(context), echoes_(echoes) {
    transition(State::kInactive);
    transition(State::kActive);
  }
  Output<ArenaBlock> out{*this, "out", ""};
  Input<ArenaBlock> in{*this, "in", "", [this](const std::shared_ptr<const ArenaBlock>& block) {
                         if (echoes_) {
                           out.send(block);
                         } else {
                           ++returned;
                         }
                       }};
  int returned = 0;

 private:
  bool echoes_;
};

/// One side of the exchange: a Player on an event loop, with a socket for each direction, as in a process of a run.
struct Side {
  Side(const std::string& out_address, const std::string& in_address, std::uint32_t self, bool echoes)
      : player(Pipe::context("player", loop), echoes),
        outlet(zmq, out_address, loop, pool),
        inlet(zmq, in_address, self, loop) {
    core::RemoteEdge& edge = outlet.add_edge(player.out, "block", 1, Policy::kBlock, 64, 1ull << 30);
    player.out.add_edge(edge);
    inlet.on_connected([this] { connected = true; });
    inlet.subscribe(
        player.in,
        {.id = 1, .topic = "block", .window_messages = 64, .window_bytes = 1ull << 30, .transport = Transport::kIpc});
    loop.add(outlet);
    loop.add(inlet);
  }
  void run_until(const std::function<bool()>& done) {
    while (!done()) {
      if (!loop.run_once()) loop.wait(std::chrono::milliseconds(100));
    }
  }

  zmq::context_t zmq;
  core::EventLoop loop{"side"};
  core::SharedPool pool;
  Player player;
  core::Outlet outlet;
  core::Inlet inlet;
  bool connected = false;
};

void measure_component(const std::string& directory, const char* name, std::size_t tensor_bytes) {
  const std::string here = endpoint(directory, "here"), there = endpoint(directory, "there");
  const pid_t child = fork_child([&] {
    Side side(there, here, 2, true);
    side.loop.run();
  });
  Side side(here, there, 1, false);
  side.run_until([&] { return side.connected; });
  core::SharedPool pool;
  ArenaBlock block{.name = "12345678"};
  if (tensor_bytes != 0) {
    block.data = {DType::kUInt8, {static_cast<std::int64_t>(tensor_bytes)}, 0, pool.allocate(tensor_bytes)};
    std::memset(block.data.data(), 1, tensor_bytes);
  }
  const auto message = std::make_shared<const ArenaBlock>(std::move(block));
  measure(name, [&] {
    const int before = side.player.returned;
    side.player.out.send(message);
    side.run_until([&] { return side.player.returned != before; });
  });
  end_child(child);
}

void run() {
  std::string pattern = (std::filesystem::temp_directory_path() / "trainyard-bench-XXXXXX").string();
  const std::string directory = ::mkdtemp(pattern.data());
  measure_hop("hop_one_thread", Watching::kNothing);
  measure_hop("hop_one_thread_watched", Watching::kTimes);
  measure_hop("hop_one_thread_recorded", Watching::kSpans);
  measure_raw(directory, "raw_zmq_8B", 8);
  measure_component(directory, "message_8B", 0);
  measure_component(directory, "message_40MB_tensor", 40'000'000);
  measure_raw(directory, "raw_zmq_8B_again", 8);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace trainyard

int main() {
  trainyard::stay_on_core(0);
  trainyard::run();
  return 0;
}
