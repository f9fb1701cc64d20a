// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace trainyard::tools {

/// The function that carries out the subcommand (the verb) that the user has typed, and returns the exit code. The
/// verb's callback stores the function while the command line is parsed. The function is called after parsing, so that
/// `launch` does not fork inside the parser.
using Action = std::function<int()>;

/// A function that adds one verb, or a family of verbs such as `topic list` and `topic info`, to the parser of the
/// command: its options, its help, and a callback that sets `chosen` to its action.
using AddVerb = void (*)(CLI::App& app, Action& chosen);

/// Adds `launch FILE [name=value...]`, which launches a run, waits until the run ends, and returns the run's exit code.
void add_launch(CLI::App& app, Action& chosen);
/// Adds `submit FILE --engine ENGINE`, which submits a run as a job to an engine, such as Slurm.
void add_submit(CLI::App& app, Action& chosen);
/// Adds `plan FILE`, which shows what a launch would start, as text or as JSON.
void add_plan(CLI::App& app, Action& chosen);
/// Adds `check FILE`, which checks whether the file can be launched on this machine, without showing the plan.
void add_check(CLI::App& app, Action& chosen);
/// Adds `plugin list|info`, which shows the installed plugins. No run needs to be active.
void add_plugin(CLI::App& app, Action& chosen);
/// Adds `topic list|info|echo|hz|bw|delay|pub`, which shows the topics of a run and their messages, and publishes
/// messages.
void add_topic(CLI::App& app, Action& chosen);
/// Adds `node list|info`, which shows the components of a run and their states.
void add_node(CLI::App& app, Action& chosen);
/// Adds `top`, which shows what every component of a run does or waits for, and which component holds up the run.
void add_top(CLI::App& app, Action& chosen);
/// Adds `trace`, which shows the path of one batch through the components of a run, with times.
void add_trace(CLI::App& app, Action& chosen);
/// Adds `profile`, which shows how the time of training steps is spent.
void add_profile(CLI::App& app, Action& chosen);
/// Adds `graph`, which shows which components send messages to each other on which topics, as text or as a picture.
void add_graph(CLI::App& app, Action& chosen);
/// Adds `param list|describe|get|set|dump|load`, which shows and changes parameters of running components.
void add_param(CLI::App& app, Action& chosen);
/// Adds `pause`, which pauses a running launch between two steps.
void add_pause(CLI::App& app, Action& chosen);
/// Adds `resume`, which ends the pause of a running launch.
void add_resume(CLI::App& app, Action& chosen);
/// Adds `service call`, which calls a service of a running component.
void add_service(CLI::App& app, Action& chosen);
/// Adds `ckpt show|verify`, which examines checkpoints on disk. No run needs to be active, and LibTorch is not loaded.
void add_ckpt(CLI::App& app, Action& chosen);
/// Adds `runs list|show|compare|best|rm`, which shows, compares and removes the results of past runs. No run needs to
/// be active.
void add_runs(CLI::App& app, Action& chosen);
/// Adds `plot RUN...`, which draws the curves of runs in the terminal or as a picture.
void add_plot(CLI::App& app, Action& chosen);
/// Adds `new KIND NAME`, which makes a folder with the sources of a new plugin that compiles and passes its test.
void add_new(CLI::App& app, Action& chosen);
/// Adds `replay RUN --step N`, which computes a step of a past run again, and compares the new results with the
/// recorded ones.
void add_replay(CLI::App& app, Action& chosen);
/// Adds `bag record|info|play|convert|verify|repair`, which creates, examines and plays recordings of messages.
void add_bag(CLI::App& app, Action& chosen);
/// Adds `completion bash|zsh|fish`, which prints the script that enables completion with the Tab key in a shell.
void add_completion(CLI::App& app, Action& chosen);
/// Adds `keys new|list|show|add`, which creates and manages the keys with which programs on other hosts attach to a
/// run, and with which the hosts of a run authenticate each other. No run needs to be active.
void add_keys(CLI::App& app, Action& chosen);
/// Adds `view`, which shows runs in a browser until the user presses Ctrl-C.
void add_view(CLI::App& app, Action& chosen);
/// Adds `doctor`, which checks whether this machine is suitable for Trainyard.
void add_doctor(CLI::App& app, Action& chosen);

}  // namespace trainyard::tools
