#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <zmq.hpp>

#include "core/logging/logging.h"
#include "core/memory/shared_pool.h"
#include "core/plugin/loader.h"
#include "core/process/control_link.h"
#include "core/process/gateway.h"
#include "core/process/worker.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/control.h"
#include "messages/plan.h"

namespace trainyard::core {

/// One operating-system process of a run: hosts components as the launcher's plan says and obeys its transitions.
///
/// The calling thread runs the control loop (the launcher's orders, visitors, heartbeats); every thread of the plan
/// gets a Worker. Components never wait for the control loop.
///
///     launcher          control thread                         worker threads       <- Hello     ProcessPlan ->
/// make workers, components, edges                       start the threads                      on_configure       <-
/// Configured     Connect ->                                               inlets connect, subscribe       <- Connected
/// Transition ->                                            on_activate, handlers, on_deactivate, drain, on_finalize
/// <- StateChanged
///
/// What crosses between the two columns does so by EventLoop::post(). A process ends when all its components are
/// finalized.
class Process {
 public:
  /// Reports to the launcher at `control_endpoint` as `name`.
  Process(std::string name, const std::string& control_endpoint);
  ~Process();

  /// Runs until the launcher has finalized every component, or is gone. Returns the exit code: 1 if the plan could not
  /// be carried out.
  int run();

 private:
  // The life of the process, in this order. On the control thread, unless it says otherwise.
  void on_plan(const ProcessPlan& plan);
  void make_workers();
  void make_component(const ComponentPlan& plan);
  void make_edge(const EdgePlan& edge);
  void open_gateway();
  void configure_all();
  void on_connect(const Connect& connect);
  InputBase& input_of(const EdgePlan& edge) const;
  std::vector<EdgePlan> log_edges() const;
  // On the worker's loop: makes the socket towards one loop of another process.
  struct WantedInlet {
    Worker* worker;
    std::string from;
    std::vector<EdgePlan> edges;
  };
  std::map<std::string, WantedInlet> wanted_inlets(const Connect& connect);
  void connect_inlet(Worker& worker, const std::string& from, const std::string& endpoint, std::vector<EdgePlan> edges);
  void report_connected(const std::string& inlet);
  void on_transition(const Transition& transition);
  // On the component's loop; reports back to the control loop.
  void bring(Component& component, const std::string& state);
  // Polls on the component's loop until everything that it sent has been handled.
  void report_when_drained(Component& component);
  void report_state(const Component& component, const std::string& state, const std::string& error);
  void finalized(const std::string& component);
  void on_peer_gone(const PeerGone& peer);

  // Questions while it runs.
  void on_request(const Request& request);
  // On the component's loop.
  void answer(Component& component, const Request& request);
  std::string counters_json() const;
  void beat();

  const ComponentPlan& component_plan(std::uint32_t index) const { return plan_.components.at(index); }
  bool is_mine(std::uint32_t index) const { return component_plan(index).process == name_; }
  Component* find_component(const std::string& name) const;
  std::vector<OutputBase*> find_outputs(const std::string& topic) const;
  std::string address_of(const std::string& thread) const;

  std::string name_;
  EventLoop loop_{"control"};
  zmq::context_t zmq_;
  ControlLink link_;
  ProcessPlan plan_;
  std::unique_ptr<LogHub> logs_;
  std::unique_ptr<PluginLoader> plugins_;
  std::unique_ptr<SharedPool> pool_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::map<std::string, std::unique_ptr<Worker>> workers_;  ///< By thread.
  std::map<std::uint32_t, Component*> components_;          ///< Mine, by index.
  std::unique_ptr<Gateway> gateway_;
  std::set<std::string> unconfigured_;
  std::set<std::string> unconnected_;  ///< Inlets whose subscriptions are not all acknowledged.
  std::set<std::string> unfinished_;
  std::uint64_t beats_ = 0;
  int exit_code_ = 0;
};

}  // namespace trainyard::core
