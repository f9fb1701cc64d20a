// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "core/component/component.h"
#include "core/loop/event_loop.h"
#include "core/transport/inlet.h"
#include "core/transport/outlet.h"

namespace trainyard::core {

/// One event loop of a process, with its thread, its sockets and the components that run on it.
///
/// The control thread, which communicates with the launcher, makes the worker. After start(), the components, edges
/// (connections from outputs to inputs) and sockets may be used only on the worker's own thread; other threads may read
/// only members that never change, and the counters of edges.
class Worker {
 public:
  Worker(std::string process, std::string thread);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Returns the key "<process>/<thread>", under which the control messages Configured and Connect contain this
  /// worker's address.
  const std::string& key() const { return key_; }

  /// Starts the thread, which runs the loop until stop(). If `cpus` is not empty, the thread is pinned to these CPUs.
  void start(std::vector<std::uint32_t> cpus);
  /// Stops the loop and waits until the thread has ended. Does nothing if the worker was never started.
  void stop();

  /// Stops reading messages from a process that has died. Call this function on the loop.
  void retire_inlets(const std::string& process);

  /// Returns the publishing socket. The first call makes this socket from the arguments (see Outlet); later calls
  /// ignore them.
  Outlet& open_outlet(zmq::context_t& context, const std::string& address, SharedPool& pool, const RunKeys& keys);

  // The order matters for destruction: sockets and edges are destroyed before the components whose ports they refer to,
  // and the components before the loop.
  EventLoop loop;
  std::vector<std::unique_ptr<Component>> components;
  std::vector<std::unique_ptr<Edge>> edges;  ///< The edges from this loop to loops of this process.
  std::unique_ptr<Outlet> outlet;            ///< Null if no edge of this loop leads to another process.
  /// The sockets that receive from other processes, by the key of the sender: "<process>/<thread>" for a worker,
  /// "<process>/gateway" for a gateway, which sends log records.
  std::map<std::string, std::unique_ptr<Inlet>> inlets;
  /// The sockets that received from processes that have died. They are kept until every message that arrived through
  /// them has been handled.
  std::vector<std::unique_ptr<Inlet>> retired;

 private:
  void run_loop();

  std::string key_;
  std::jthread thread_;
};

}  // namespace trainyard::core
