// SPDX-License-Identifier: Apache-2.0
// The program trainyard-process: one operating-system process of a run. The launcher starts it, not the user.

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "core/component/boundary.h"
#include "core/plugin/describe.h"
#include "core/plugin/loader.h"
#include "core/process/denormals.h"
#include "core/process/process.h"

namespace {

constexpr const char* kUsage =
    "usage: trainyard-process --control ENDPOINT --process NAME [--denormals keep|flush]\n"
    "                                                              host components for a launcher\n"
    "       trainyard-process --describe FILE [--parameters JSON]  print a plugin's declaration as JSON\n"
    "Started by `trainyard launch`; see `trainyard --help`.\n";

/// Prints the description of a plugin as JSON. The launcher starts a separate process for this, because loading a
/// library runs its code.
int describe(const std::string& path, const std::string& parameters) {
  trainyard::core::PluginLoader loader({});
  std::printf("%s\n", to_json(trainyard::core::describe_plugin(loader, path, parameters)).dump().c_str());
  return 0;
}

/// Reads the keys of the run from standard input. The launcher passes them in this way because other users cannot read
/// it, unlike a command line.
trainyard::core::RunKeys keys_of_run() {
  constexpr std::size_t kMost = 4096;
  std::string text(kMost, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stdin));
  return trainyard::core::RunKeys::read(text);
}

int run(int argc, char** argv) {
  std::string control, name, described, parameters, denormals;
  // The arguments are read without a parser, because only Trainyard's own programs start this one.
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--describe") == 0) described = argv[i + 1];
    if (std::strcmp(argv[i], "--parameters") == 0) parameters = argv[i + 1];
    if (std::strcmp(argv[i], "--control") == 0) control = argv[i + 1];
    if (std::strcmp(argv[i], "--process") == 0) name = argv[i + 1];
    if (std::strcmp(argv[i], "--denormals") == 0) denormals = argv[i + 1];
  }
  if (!described.empty()) return describe(described, parameters);
  if (control.empty() || name.empty()) {
    std::fputs(kUsage, argc == 2 && std::strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return argc == 2 && std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  // Without this, writing to a socket or a pipe whose reader has ended would end the process. All other signals keep
  // their default effect: normally the launcher stops a process with a message, and it sends signals only if this
  // fails.
  std::signal(SIGPIPE, SIG_IGN);
  // All other threads inherit this setting, because only the main thread exists so far.
  if (denormals != "keep") trainyard::core::flush_denormals();
  return trainyard::core::Process(name, control, keys_of_run()).run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (...) {
    std::fprintf(stderr, "trainyard-process: %s\n", trainyard::describe_current_exception().c_str());
    return 1;
  }
}
