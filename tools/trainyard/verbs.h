// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace trainyard::tools {

/// The action of the chosen verb, which returns the exit code. A verb sets the action while the command line is parsed.
/// The action runs afterwards, so that `launch` does not fork during parsing.
using Action = std::function<int()>;

/// A function that adds one verb, or one small family of verbs, to the command, with its options, its help and its
/// action.
using AddVerb = void (*)(CLI::App& app, Action& chosen);

/// `launch FILE [name=value...]` launches a run, waits until the run ends, and returns its exit code.
void add_launch(CLI::App& app, Action& chosen);
/// `plan FILE` shows what a launch would start, as text or as JSON.
void add_plan(CLI::App& app, Action& chosen);
/// `check FILE` checks whether the file can be launched here, without showing the plan.
void add_check(CLI::App& app, Action& chosen);
/// `plugin list|info` shows what is installed. It needs no run.
void add_plugin(CLI::App& app, Action& chosen);
/// `topic list|info|echo|hz` shows the topics of a run and their messages. It subscribes as a visitor.
void add_topic(CLI::App& app, Action& chosen);
/// `node list|info` shows the components of a run and their states.
void add_node(CLI::App& app, Action& chosen);
/// `param list|get|set` shows and changes parameters of a running component.
void add_param(CLI::App& app, Action& chosen);
/// `service call` calls a service of a running component.
void add_service(CLI::App& app, Action& chosen);
/// `ckpt show|verify` examines checkpoints on disk. It needs no run and no LibTorch.
void add_ckpt(CLI::App& app, Action& chosen);
/// `doctor` checks whether this machine is suitable for Trainyard.
void add_doctor(CLI::App& app, Action& chosen);

}  // namespace trainyard::tools
