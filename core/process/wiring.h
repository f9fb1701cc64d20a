// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/process/component_host.h"
#include "core/process/plan_view.h"
#include "core/transport/run_keys.h"
#include "messages/control.h"

namespace trainyard::core {

/// The edges (connections from outputs to inputs) of one process: the edges within the process, and the
/// process's own ends of the edges to and from other processes. A Wiring may be used only on the control thread (the
/// thread that communicates with the launcher), unless a comment states otherwise.
class Wiring {
 public:
  /// After every connect(), `connected` is called on the control loop as soon as the other processes have acknowledged
  /// all subscriptions. All objects passed by reference must outlive this object.
  Wiring(const PlanView& plan, ComponentHost& host, EventLoop& control, zmq::context_t& sockets, const RunKeys& keys,
         std::function<void()> connected);

  /// Makes every edge that begins in this process. Call this when all components of the process have been made, and
  /// before their threads are started. Throws kNotFound if an edge begins or ends at a port that its component does not
  /// have.
  void make_edges();

  /// Subscribes the inputs of this process to the publishers whose addresses `connect` contains. Called again after
  /// another process has been restarted.
  void connect(const Connect& connect);

  /// Handles the death of another process: releases the buffers that it held, drops messages to it so that no component
  /// waits for it, and stops reading messages from it.
  void peer_gone(const PeerGone& peer);

 private:
  /// A socket that `worker` needs in order to receive from another loop, whose key is `from`, and the edges that will
  /// use the socket.
  struct WantedInlet {
    Worker* worker;
    std::string from;
    std::vector<EdgePlan> edges;
  };

  void make_edge(const EdgePlan& edge);
  void make_inner_edge(const EdgePlan& edge, OutputBase& output, Policy policy);
  InputBase& input_of(const EdgePlan& edge) const;
  void count_connection(const EdgePlan& edge);
  std::vector<EdgePlan> log_edges() const;
  std::map<std::string, WantedInlet> wanted_inlets(const Connect& connect) const;
  // Runs on the loop of the worker.
  void open_inlet(const std::string& inlet, const WantedInlet& wanted, const std::string& endpoint);
  void subscribe(const std::string& inlet, const WantedInlet& wanted, const std::string& endpoint);
  void acknowledge(const std::string& inlet);

  const PlanView& plan_;
  ComponentHost& host_;
  EventLoop& control_;
  zmq::context_t& sockets_;
  const RunKeys& keys_;
  std::function<void()> connected_;
  /// The sockets that receive from other processes and whose subscriptions have not been acknowledged yet.
  std::set<std::string> unconnected_;
};

}  // namespace trainyard::core
