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
/// The control thread makes it. Once it has been started, everything but `loop` belongs to the worker's own thread.
class Worker {
 public:
  Worker(std::string process, std::string thread);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Returns the key "process/thread", under which others find this worker's endpoint.
  const std::string& key() const { return key_; }

  /// Pins the thread to `cpus` (if there are any) and runs the loop until stop().
  void start(std::vector<std::uint32_t> cpus);
  /// Ends the loop and waits for the thread. Does nothing if it was never started.
  void stop();

  /// Stops reading messages from a process that has died. Runs on the loop.
  void retire_inlets(const std::string& process);

  /// Returns the publishing socket, which it makes if it does not exist yet.
  Outlet& open_outlet(zmq::context_t& context, const std::string& address, SharedPool& pool, const RunKeys& keys);

  // The order matters for destruction: sockets and edges go before the components to whose ports they refer, and those
  // before the loop.
  EventLoop loop;
  std::vector<std::unique_ptr<Component>> components;
  std::vector<std::unique_ptr<Edge>> edges;              ///< The edges that start here and end in this process.
  std::unique_ptr<Outlet> outlet;                        ///< Null if nothing leaves the process from here.
  std::map<std::string, std::unique_ptr<Inlet>> inlets;  ///< Indexed by the key of the sending worker.
  /// The inlets whose sender has died. They are kept until every message that came through them has been handled.
  std::vector<std::unique_ptr<Inlet>> retired;

 private:
  void run_loop();

  std::string key_;
  std::jthread thread_;
};

}  // namespace trainyard::core
