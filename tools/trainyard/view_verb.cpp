// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/verbs.h"
#include "viewer/viewer.h"
#include "visitors/run_info.h"

namespace trainyard::tools {
namespace {

struct ViewArguments {
  std::vector<std::string> what;
  std::string address = "127.0.0.1";
  int port = 0;
  std::vector<std::string> names;
  std::string certificate, key, webhook, page;
  std::string role = "control";
  bool open = false;
};

/// Returns the signals that end the viewer. They are blocked before any thread starts; at the end, the command waits
/// for one of them.
sigset_t ending_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  return signals;
}

void show_file(viewer::Library& library, const std::string& path) {
  if (!path.ends_with(".mcap")) {
    throw Error(
        Code::kInvalidArgument,
        "{} is no recording, whose name ends with .mcap; the viewer also opens running launches by their names, "
        "and folders with past runs",
        path);
  }
  library.open_recording(std::filesystem::canonical(path));
}

/// Adds to the viewer what a word of the command line names: a folder with past runs, a recording, or a running launch.
void show_one(viewer::Library& library, const std::string& word) {
  std::error_code none;
  if (std::filesystem::is_directory(word, none)) return library.open_folder(word);
  if (std::filesystem::exists(word, none)) return show_file(library, word);
  // The viewer also reads the files of a run, which are on the host of the run.
  if (word.find("tcp://") != std::string::npos) {
    throw Error(
        Code::kUnsupported,
        "{}: the viewer cannot show a run on another host; start it on that host, and forward its port with ssh", word);
  }
  if (word.ends_with(".mcap") || word.find('/') != std::string::npos)
    throw Error(Code::kNotFound, "there is no file {}", word);
  library.follow(visitors::find_run(word));
}

/// Adds everything that the command line names. If it names nothing, adds all launches that are running or start later,
/// and the past runs in `runs/`.
void show_all(viewer::Library& library, const std::vector<std::string>& words) {
  for (const std::string& word : words) show_one(library, word);
  std::error_code none;
  if (!words.empty() || !std::filesystem::is_directory("runs", none)) return;
  try {
    library.open_folder("runs");
  } catch (const Error&) {
    // An empty folder `runs/` is not an error, because the user has not named it.
  }
}

/// Opens the page with the desktop's default browser. Discards the browser's output.
void open_browser(const std::string& url) {
  if (::fork() != 0) return;
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(null, fd);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execlp("xdg-open", "xdg-open", url.c_str(), nullptr);
  ::_exit(127);
}

viewer::ViewerSettings viewer_settings(const ViewArguments& arguments) {
  viewer::ViewerSettings settings;
  settings.server = {.address = arguments.address,
                     .port = static_cast<std::uint16_t>(arguments.port),
                     .names = arguments.names,
                     .certificate = arguments.certificate,
                     .key = arguments.key};
  settings.page = arguments.page;
  settings.webhook = arguments.webhook;
  if (arguments.what.empty()) settings.runs_directory = visitors::runs_directory();
  settings.log = [](const std::string& line) { std::fprintf(stderr, "trainyard: %s\n", printable_line(line).c_str()); };
  return settings;
}

/// Prints the addresses of the viewer. Only the addresses go to stdout, so that a program can read them.
void print_addresses(const viewer::Viewer& viewer, const std::string& role) {
  for (const web::Role each : {web::Role::kControl, web::Role::kWatch}) {
    if (role == "both" || role == name_of(each)) std::printf("%s\n", viewer.url(each).c_str());
  }
  std::fflush(stdout);
  std::fprintf(stderr,
               "Open %s in a browser. Whoever knows %s can %s the runs.\nCtrl-C ends the viewer; the runs go on.\n",
               role == "both" ? "one of these addresses" : "this address", role == "both" ? "the first one" : "it",
               role == "watch" ? "watch" : "change and stop");
}

int view(const ViewArguments& arguments) {
  const sigset_t signals = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  viewer::Viewer viewer(viewer_settings(arguments));
  show_all(viewer.library(), arguments.what);
  viewer.start();
  print_addresses(viewer, arguments.role);
  if (arguments.open) open_browser(viewer.url(arguments.role == "watch" ? web::Role::kWatch : web::Role::kControl));
  int signal = 0;
  ::sigwait(&signals, &signal);
  return kExitInterrupted;
}

}  // namespace

void add_view(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("view", "Show running launches, past runs and recordings in a browser");
  verb->footer(
      "Without WHAT, the page shows all running launches, including those that start\n"
      "later, and the past runs below runs/.\n"
      "Examples:\n  trainyard view\n  trainyard view mnist runs/mnist-old recording.mcap\n"
      "  trainyard view --address 0.0.0.0 --name node7.example.org --certificate node7.pem --key node7.key");
  const auto arguments = std::make_shared<ViewArguments>();
  verb->add_option("WHAT", arguments->what, "names of running launches, folders with past runs, and recordings");
  verb->add_option("--port", arguments->port, "the port to listen on (default: a free one)")
      ->check(CLI::Range(0, 65535))
      ->type_name("PORT");
  verb->add_option("--address", arguments->address, "the IP address to listen on (127.0.0.1)")->type_name("IP");
  verb->add_option("--name", arguments->names, "a further name under which the page is opened")->type_name("HOST");
  verb->add_option("--certificate", arguments->certificate,
                   "PEM file with a certificate for TLS, which is needed\noutside of loopback")
      ->type_name("FILE");
  verb->add_option("--key", arguments->key, "PEM file with the key of the certificate")->type_name("FILE");
  verb->add_option("--webhook", arguments->webhook, "send alerts to this address with HTTP POST")->type_name("URL");
  verb->add_option("--role", arguments->role, "what the printed address allows (control)")
      ->check(CLI::IsMember({"control", "watch", "both"}));
  verb->add_option("--page", arguments->page, "serve the page from this folder (for its developers)")
      ->type_name("FOLDER");
  verb->add_flag("--open", arguments->open, "open the page in a browser");
  verb->callback([=, &chosen] { chosen = [=] { return view(*arguments); }; });
}

}  // namespace trainyard::tools
