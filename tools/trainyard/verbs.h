#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace trainyard::tools {

/// What the chosen verb does; returns the exit code. Verbs set it while the command line is parsed and it runs
/// afterwards, so that `launch` forks with nothing half done.
using Action = std::function<int()>;

/// Each adds one verb, or one small family of verbs, to the command: its options, its help, its action.
using AddVerb = void (*)(CLI::App& app, Action& chosen);

/// `launch FILE [name=value...]`: runs until the run ends; its exit code is the run's.
void add_launch(CLI::App& app, Action& chosen);
/// `plan FILE`: what a launch would start, for people or as JSON.
void add_plan(CLI::App& app, Action& chosen);
/// `check FILE`: whether it can be launched here; silent about everything else.
void add_check(CLI::App& app, Action& chosen);
/// `plugin list|info`: what is installed. Needs no run.
void add_plugin(CLI::App& app, Action& chosen);
/// `topic list|info|echo|hz`: streams of a run; subscribes as a visitor.
void add_topic(CLI::App& app, Action& chosen);
/// `node list|info`: components of a run and their states.
void add_node(CLI::App& app, Action& chosen);
/// `param list|get|set`: parameters of a running component.
void add_param(CLI::App& app, Action& chosen);
/// `service call`: asks a running component.
void add_service(CLI::App& app, Action& chosen);
/// `ckpt show|verify`: checkpoints on disk. Needs no run and no LibTorch.
void add_ckpt(CLI::App& app, Action& chosen);
/// `doctor`: what this machine has and lacks.
void add_doctor(CLI::App& app, Action& chosen);

}  // namespace trainyard::tools
