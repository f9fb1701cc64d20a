// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/logging/logging.h"
#include "core/memory/shared_pool.h"
#include "core/plugin/loader.h"
#include "core/process/plan_view.h"
#include "core/process/worker.h"
#include "core/rendezvous/rendezvous.h"

namespace trainyard::core {

/// The components of one process, the threads on which they run, and the objects that they share: loaded plugins,
/// shared memory, the rendezvous (the store through which ranks find each other) and the log. A ComponentHost may be
/// used only on the control thread (the thread that communicates with the launcher), unless a comment states otherwise.
class ComponentHost {
 public:
  /// Callbacks for two events: a component asks to end the run (Component::finish_run), or a component fails. They are
  /// called on the thread of the component.
  struct Reports {
    std::function<void(const std::string& component, const std::string& reason, bool success)> run_finished;
    std::function<void(Component& component, const std::string& what)> failed;
  };

  /// Makes a worker (a thread with its event loop) for every thread of this process in the plan, but no components.
  /// `plan` must outlive this object.
  ComponentHost(const PlanView& plan, Reports reports);
  /// Stops the threads before it destroys the other members, which the threads use.
  ~ComponentHost();

  /// Makes one component of this process. Must be called before start(). Exceptions from loading the plugin and from
  /// its constructor are passed on. Throws kPluginLoad if the library contains a plugin of another kind.
  void make(const ComponentPlan& plan);

  /// Starts the threads. Each thread is pinned to the CPUs that the plan assigns to its components, if there are any.
  void start();
  /// Stops the threads and waits until they have ended.
  void stop();
  /// Returns true between start() and stop(). At other times, tasks that are posted to the loop of a component do not
  /// run.
  bool running() const { return running_; }

  /// Returns a component of this process by its index in the plan.
  Component& component(std::uint32_t index) const { return *components_.at(index); }
  const std::map<std::uint32_t, Component*>& components() const { return components_; }
  /// Returns a component by its name, or null if this process has no such component.
  Component* find(const std::string& name) const;
  /// Returns the outputs of this process that publish `topic`. The list does not change once all components are made.
  std::vector<OutputBase*> find_outputs(const std::string& topic) const;

  /// Returns the worker (a thread with its event loop) that runs a component of this process.
  Worker& worker_of(std::uint32_t component) const { return *workers_.at(plan_.component(component).thread); }
  const std::map<std::string, std::unique_ptr<Worker>>& workers() const { return workers_; }

  SharedPool& pool() { return pool_; }
  const SharedPool& pool() const { return pool_; }
  LogHub& logs() { return logs_; }

 private:
  ComponentContext context_for(const ComponentPlan& plan);

  const PlanView& plan_;
  Reports reports_;
  LogHub logs_;
  /// All components share this loader, so that a library that several components use is loaded only once.
  PluginLoader plugins_;
  SharedPool pool_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::map<std::string, std::unique_ptr<Worker>> workers_;  ///< Indexed by thread.
  std::map<std::uint32_t, Component*> components_;          ///< Indexed as in the plan; owned by their workers.
  bool running_ = false;
};

}  // namespace trainyard::core
