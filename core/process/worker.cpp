// SPDX-License-Identifier: Apache-2.0
#include "core/process/worker.h"

#include <pthread.h>
#include <sched.h>

#include "core/component/boundary.h"

namespace trainyard::core {

Worker::Worker(std::string process, std::string thread) : loop(thread), key_(process + "/" + thread) {}

Worker::~Worker() { stop(); }

void Worker::start(std::vector<std::uint32_t> cpus) {
  thread_ = std::jthread([this, cpus = std::move(cpus)] {
    // Linux allows 15 bytes, and the call fails for a longer name.
    ::pthread_setname_np(::pthread_self(), loop.name().substr(0, 15).c_str());
    if (!cpus.empty()) {
      cpu_set_t set;
      CPU_ZERO(&set);
      for (const std::uint32_t cpu : cpus) CPU_SET(cpu, &set);
      ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
    }
    run_loop();
  });
}

// Exceptions of handlers and hooks never arrive here, because Component catches them. Any other exception is an error
// in the runtime, after which nothing on this thread can be trusted. The components of the thread are reported as
// failed, and the launcher ends the process.
void Worker::run_loop() {
  try {
    loop.run();
  } catch (...) {
    const std::string what = describe_current_exception();
    for (const auto& component : components) component->fail(what);
  }
}

void Worker::stop() {
  loop.stop();
  if (thread_.joinable()) thread_.join();
}

// Components may still keep messages of the dead process, and return the credit of each message to the inlet through
// which it arrived. An inlet is therefore destroyed only when all its messages have been handled; this is checked when
// the next process dies.
void Worker::retire_inlets(const std::string& process) {
  std::erase_if(retired, [](const auto& inlet) { return inlet->idle(); });
  const std::string prefix = process + "/";
  for (auto inlet = inlets.begin(); inlet != inlets.end();) {
    if (!inlet->first.starts_with(prefix)) {
      ++inlet;
      continue;
    }
    loop.remove(*inlet->second);
    inlet->second->retire();
    retired.push_back(std::move(inlet->second));
    inlet = inlets.erase(inlet);
  }
}

// The socket is made on demand, because a thread that only receives does not need it.
Outlet& Worker::open_outlet(zmq::context_t& context, const std::string& address, SharedPool& pool,
                            const RunKeys& keys) {
  if (outlet == nullptr) {
    outlet = std::make_unique<Outlet>(context, address, loop, pool, keys);
    loop.add(*outlet);
  }
  return *outlet;
}

}  // namespace trainyard::core
