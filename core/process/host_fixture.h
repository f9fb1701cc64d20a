// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "core/process/component_host.h"
#include "core/process/wiring.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard::testing {

/// The components of one process of a run, hosted in a test without a launcher. The test's own thread is the control
/// thread.
struct HostedProcess {
  HostedProcess(ProcessPlan plan, const std::string& name, zmq::context_t& sockets)
      : view(std::move(plan), name), wiring(view, host, control, sockets, keys, [this] { ++connected; }) {}
  /// Stops the threads first, because they use all other members.
  ~HostedProcess() { host.stop(); }

  /// Makes the components of this process.
  void make() {
    for (const ComponentPlan& component : view.plan().components) {
      if (component.process == view.process()) host.make(component);
    }
  }

  /// Starts the threads. If the plan has edges, call wiring.make_edges() before. Each component is then configured and
  /// activated on its own thread, without waiting for the others.
  void run() {
    host.start();
    for (const auto& [index, component] : host.components()) {
      component->loop().post([each = component] {
        each->guarded([each] {
          each->transition(State::kInactive);
          each->transition(State::kActive);
        });
      });
    }
  }

  /// Returns the entry for a thread in the message Configured: the key of the worker, and the address at which it
  /// publishes.
  std::pair<std::string, std::string> endpoint(const std::string& thread) const {
    const core::Worker& worker = *host.workers().at(thread);
    return {worker.key(), worker.outlet->endpoint()};
  }

  core::PlanView view;
  core::EventLoop control{"control"};
  std::vector<std::string> reports;  ///< The reports of the components, such as "tally finished: counted 3".
  int connected = 0;                 ///< How many times the wiring has reported that everything is connected.
  core::ComponentHost host{
      view,
      {.run_finished =
           [this](const std::string& component, const std::string& reason, bool success) {
             const std::string word = success ? " finished: " : " gave up: ";
             control.post([this, text = component + word + reason] { reports.push_back(text); });
           },
       .failed =
           [this](Component& component, const std::string& what) {
             control.post([this, text = component.name() + " failed: " + what] { reports.push_back(text); });
           }}};
  core::RunKeys keys;
  core::Wiring wiring;
};

/// A fixture with which a test plans a small run of the plugins in tests/integration/plugins and hosts its processes.
class HostFixture : public ::testing::Test {
 protected:
  /// Appends a component to the plan and returns its description, which the test may change until it calls this
  /// function again.
  ComponentPlan& add(const std::string& plugin, const std::string& process, const std::string& thread,
                     const std::string& parameters = "{}") {
    const auto index = static_cast<std::uint32_t>(plan_.components.size());
    plan_.components.push_back({.index = index,
                                .name = plugin,
                                .plugin = plugin,
                                .process = process,
                                .thread = thread,
                                .parameters = parameters});
    return plan_.components.back();
  }

  /// Appends an edge from the output `ticks` of the component `from` to the input `ticks` of the component `to`.
  /// Returns the edge, which the test may change until it calls this function again.
  EdgePlan& connect(std::uint32_t from, std::uint32_t to, Transport transport = Transport::kThread) {
    plan_.edges.push_back({.id = static_cast<std::uint32_t>(plan_.edges.size()),
                           .topic = "/ticks",
                           .from = from,
                           .output = "ticks",
                           .to = to,
                           .input = "ticks",
                           .policy = Policy::kBlock,
                           .window_messages = 4,
                           .transport = transport});
    return plan_.edges.back();
  }

  /// Makes the process `name` of the plan and returns it. `index` is its index in the plan. run_until() runs its
  /// control loop.
  HostedProcess& host(const std::string& name, std::uint32_t index = 1) {
    ProcessPlan plan = plan_;
    plan.run = "test";
    plan.run_directory = folder_.path();
    plan.output_directory = folder_.path("out");
    plan.process = name;
    plan.process_index = index;
    plan.log_level = LogLevel::kOff;
    plan.plugin_path = {TRAINYARD_TEST_PLUGINS};
    hosted_.push_back(std::make_unique<HostedProcess>(std::move(plan), name, sockets_));
    return *hosted_.back();
  }

  /// Destroys a process. Messages that it has not handled or sent are lost.
  void end(const HostedProcess& process) {
    std::erase_if(hosted_, [&](const auto& each) { return each.get() == &process; });
  }

  /// Runs all control loops in turn until `done` returns true. Throws kTimeout after 20 s, which no test reaches unless
  /// it hangs.
  void run_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) throw Error(Code::kTimeout, "the condition did not come true");
      for (const auto& each : hosted_) {
        if (!each->control.run_once()) each->control.wait(std::chrono::milliseconds(1));
      }
    }
  }

  testing::TemporaryFolder folder_;
  zmq::context_t sockets_;
  ProcessPlan plan_;

 private:
  std::vector<std::unique_ptr<HostedProcess>> hosted_;
};

}  // namespace trainyard::testing
