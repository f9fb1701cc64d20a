#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace trainyard {

/// What the chosen verb does; returns the exit code. Verbs set it while the command line is parsed and it runs
/// afterwards, so that `launch` forks with nothing half done.
using Action = std::function<int()>;

/// Each adds one verb, or one small family of verbs, to the command: its options, its help, its action.
using AddVerb = void (*)(CLI::App& app, Action& chosen);

// One file each; main.cpp has the list.
void add_launch(CLI::App& app, Action& chosen);
void add_plan(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_plugin(CLI::App& app, Action& chosen);
void add_topic(CLI::App& app, Action& chosen);
void add_node(CLI::App& app, Action& chosen);
void add_param(CLI::App& app, Action& chosen);
void add_service(CLI::App& app, Action& chosen);
void add_ckpt(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);

}  // namespace trainyard
