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
    // Linux allows 15 bytes; a longer name would not be set at all.
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

// Handlers and hooks report their own exceptions. An exception that arrives here is a fault below them, after which
// nothing on this thread can be trusted. The process keeps running to report this, and the launcher ends it.
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

// Components may still hold messages of the dead process, and return the credit of each to the inlet that it came
// through. So an inlet goes only when it has nothing under way, at the next death at the latest.
void Worker::retire_inlets(const std::string& process) {
  std::erase_if(retired, [](const auto& inlet) { return inlet->idle(); });
  const std::string prefix = process + "/";
  for (auto inlet = inlets.begin(); inlet != inlets.end();) {
    if (!inlet->first.starts_with(prefix)) {
      ++inlet;
      continue;
    }
    loop.remove(*inlet->second);
    retired.push_back(std::move(inlet->second));
    inlet = inlets.erase(inlet);
  }
}

// It is made on demand, because a thread that only receives binds no socket.
Outlet& Worker::open_outlet(zmq::context_t& context, const std::string& address, SharedPool& pool,
                            const RunKeys& keys) {
  if (outlet == nullptr) {
    outlet = std::make_unique<Outlet>(context, address, loop, pool, keys);
    loop.add(*outlet);
  }
  return *outlet;
}

}  // namespace trainyard::core
