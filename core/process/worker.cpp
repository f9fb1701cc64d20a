#include "core/process/worker.h"

#include <pthread.h>
#include <sched.h>

namespace trainyard {

Worker::Worker(std::string process, std::string thread) : loop(thread), key_(process + "/" + thread) {}

Worker::~Worker() { stop(); }

void Worker::start(std::vector<std::uint32_t> cpus) {
  thread_ = std::jthread([this, cpus = std::move(cpus)] {
    // Linux allows 15 bytes; a longer name would not be set at all.
    ::pthread_setname_np(::pthread_self(), loop.name().substr(0, 15).c_str());
    if (!cpus.empty()) {
      cpu_set_t set;
      CPU_ZERO(&set);
      for (const std::uint32_t cpu : cpus) CPU_SET(cpu, &set);
      ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
    }
    loop.run();
  });
}

void Worker::stop() {
  loop.stop();
  if (thread_.joinable()) thread_.join();
}

// On demand: a thread that only receives binds no socket.
Outlet& Worker::open_outlet(zmq::context_t& context, const std::string& address, SharedPool& pool) {
  if (outlet == nullptr) {
    outlet = std::make_unique<Outlet>(context, address, loop, pool);
    loop.add(*outlet);
  }
  return *outlet;
}

}  // namespace trainyard
