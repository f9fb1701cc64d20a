// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/training/stranger.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/transport/frames.h"
#include "messages/error.h"
#include "visitors/registry_client.h"

namespace trainyard::testing {

Stranger::Stranger(zmq::context_t& context, const std::string& endpoint) : socket_(context, zmq::socket_type::dealer) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::rcvhwm, 1);
  socket_.set(zmq::sockopt::sndhwm, 0);
  socket_.connect(endpoint);
}

void Stranger::subscribe(const Subscribe& request) { core::send_control(socket_, {}, request); }

void Stranger::send(const std::vector<std::string>& texts) {
  core::Frames frames;
  for (const std::string& text : texts) frames.emplace_back(std::string_view(text));
  core::send_frames(socket_, frames);
}

Subscribed Stranger::answer() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  core::Frames frames;
  while (std::chrono::steady_clock::now() < end) {
    zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
    zmq::poll(&item, 1, std::chrono::milliseconds(100));
    if (core::receive_frames(socket_, frames) && frames.size() == 3 && frames[1].to_string() == Subscribed::kTypeName) {
      return core::read_message<Subscribed>(frames[2]);
    }
  }
  return {.error = "no answer"};
}

namespace {

/// Returns the memory of a process in bytes. Memory that several processes share is divided among them, so that the sum
/// over all processes is right.
std::uint64_t memory_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/smaps_rollup");
  for (std::string word; file >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "Pss:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

std::uint64_t descriptors_of(pid_t process) {
  std::uint64_t count = 0;
  std::error_code gone;
  for (std::filesystem::directory_iterator each("/proc/" + std::to_string(process) + "/fd", gone), end;
       !gone && each != end; each.increment(gone)) {
    ++count;
  }
  return count;
}

}  // namespace

Taken taken_by(const std::vector<pid_t>& processes) {
  Taken taken;
  for (const pid_t process : processes) {
    taken.bytes += memory_of(process);
    taken.descriptors += descriptors_of(process);
  }
  return taken;
}

GoodClient::GoodClient(std::string registry)
    : thread_([this, registry = std::move(registry)] { ask_until_stopped(registry); }) {}

void GoodClient::ask_until_stopped(const std::string& registry) {
  zmq::context_t context;
  visitors::RegistryClient client(context, registry);
  try {
    while (!stopping_) {
      const auto begun = std::chrono::steady_clock::now();
      // The launcher answers the first question, and a component the second.
      answers_ % 2 == 0 ? client.ask("run") : client.call("optimizer", "param.list");
      times_.push_back(std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun));
      ++answers_;
    }
  } catch (const Error& error) {
    complaint_ = error.what();
  }
}

void GoodClient::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

std::chrono::milliseconds GoodClient::p99() const {
  if (times_.empty()) return std::chrono::milliseconds::max();
  std::vector<std::chrono::microseconds> sorted = times_;
  std::ranges::sort(sorted);
  return std::chrono::duration_cast<std::chrono::milliseconds>(sorted[sorted.size() * 99 / 100]);
}

}  // namespace trainyard::testing
