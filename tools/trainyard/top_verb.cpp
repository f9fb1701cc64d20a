// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "archive/run_record.h"
#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/top_progress.h"
#include "tools/trainyard/top_screen.h"
#include "tools/trainyard/top_view.h"
#include "tools/trainyard/verbs.h"
#include "visitors/observation_json.h"
#include "visitors/registry_client.h"
#include "visitors/run_observer.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using visitors::Observation;

/// The interval for `top --once`, which is short enough for an answer within 200 ms.
constexpr std::chrono::milliseconds kShortLook{100};
/// How often the command checks whether the run still exists.
constexpr std::chrono::milliseconds kLifeCheck{250};

struct TopArguments {
  RunChoice run;
  double interval_s = 1;
  bool once = false;
  bool as_json = false;
  bool processes = false;
};

std::string plain_text(const TopHeadline& headline, const Observation& observation, const TopChoice& choice,
                       std::size_t width) {
  const TopView view = make_top_view(headline, observation, choice, width);
  std::string text;
  for (const std::string& line : view.head) text += line + "\n";
  text += view.columns + "\n";
  for (const std::string& row : view.rows) text += row + "\n";
  return text;
}

template <class T>
json number(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json json_of(const TopHeadline& headline, const Observation& observation) {
  json all = visitors::to_json(observation);
  all["run"] = headline.run;
  all["step"] = number(headline.step);
  all["total_steps"] = headline.total_steps == 0 ? json() : json(headline.total_steps);
  all["loss"] = number(headline.loss);
  all["units_per_s"] = number(headline.units_per_s);
  all["unit"] = headline.unit.empty() ? json() : json(headline.unit);
  return all;
}

/// Observes a run by means of the launcher's registry, and shows it.
class Top {
 public:
  explicit Top(const TopArguments& arguments)
      : arguments_(arguments),
        run_(find_run(arguments.run)),
        registry_(context_, run_.registry),
        observer_(registry_),
        output_directory_(registry_.ask("run").value("output_directory", "")),
        progress_(context_, run_) {
    choice_.processes = arguments.processes;
  }
  ~Top() {
    if (signals_ >= 0) ::close(signals_);
  }
  Top(const Top&) = delete;
  Top& operator=(const Top&) = delete;

  int once() {
    observer_.observe();
    progress_.listen(kShortLook);
    print(observer_.observe());
    return kExitOk;
  }

  /// Updates the screen at every interval until the run ends or the user quits. Returns the exit code.
  int live() {
    block_signals();
    if (!arguments_.as_json && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) screen_.emplace();
    const auto interval =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(arguments_.interval_s));
    // The first request only makes the processes begin to measure. A short interval follows, so that the first values
    // appear soon.
    auto next_look = Clock::now();
    int looks = 0;
    for (;;) {
      if (Clock::now() >= next_look) {
        observer_.ask();
        next_look = Clock::now() + (looks++ == 0 ? Clock::duration(kShortLook) : interval);
      }
      wait(next_look);
      if (const auto observation = observer_.answer(std::chrono::milliseconds(0))) {
        progress_.listen(std::chrono::milliseconds(0));
        if (looks > 1) show(*observation);
      }
      if (const auto code = serve_user()) return *code;
      if (const auto code = check_run()) return *code;
    }
  }

 private:
  static void block_signals() {
    // SIGPIPE is not blocked, so the command ends as usual if its output pipe is closed.
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH})
      ::sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  }

  static int open_signals() {
    sigset_t signals;
    ::sigprocmask(SIG_BLOCK, nullptr, &signals);
    return ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  }

  void wait(Clock::time_point until) {
    if (signals_ < 0) signals_ = open_signals();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    zmq::pollitem_t items[] = {{registry_.socket().handle(), 0, ZMQ_POLLIN, 0},
                               {nullptr, signals_, ZMQ_POLLIN, 0},
                               {nullptr, STDIN_FILENO, ZMQ_POLLIN, 0}};
    zmq::poll(items, screen_ ? 3 : 2,
              std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(0), kLifeCheck));
  }

  std::optional<int> serve_user() {
    signalfd_siginfo arrived{};
    while (::read(signals_, &arrived, sizeof arrived) == sizeof arrived) {
      switch (arrived.ssi_signo) {
        case SIGTSTP:
          screen_ ? screen_->suspend() : static_cast<void>(::raise(SIGSTOP));
          break;
        case SIGWINCH:
        case SIGCONT:
          break;
        default:
          return 128 + static_cast<int>(arrived.ssi_signo);
      }
      redraw();
    }
    if (!screen_) return {};
    for (const TopScreen::Key key : screen_->keys()) {
      if (key == TopScreen::Key::kQuit) return kExitOk;
      on_key(key);
      redraw();
    }
    return {};
  }

  void on_key(TopScreen::Key key) {
    const std::size_t page = rows_shown();
    switch (key) {
      case TopScreen::Key::kSort:
        choice_.sort = next_sort(choice_.sort, choice_.processes);
        break;
      case TopScreen::Key::kProcesses:
        choice_ = {.processes = !choice_.processes};
        first_row_ = 0;
        break;
      case TopScreen::Key::kUp:
        first_row_ -= std::min<std::size_t>(first_row_, 1);
        break;
      case TopScreen::Key::kDown:
        ++first_row_;
        break;
      case TopScreen::Key::kPageUp:
        first_row_ -= std::min(first_row_, page);
        break;
      case TopScreen::Key::kPageDown:
        first_row_ += page;
        break;
      default:
        first_row_ = 0;
    }
  }

  /// Returns how many rows of the table fit between the lines at the top and the line about the keys.
  static std::size_t rows_shown() {
    constexpr std::size_t kOtherLines = 5;
    return std::max(TopScreen::size().rows, kOtherLines + 1) - kOtherLines;
  }

  /// Returns true if the launcher was killed, that is, if the run has ended without recording its end. If there is no
  /// launch record, this is inferred from how the connections ended and from what the launcher has left behind.
  bool was_killed() const {
    try {
      for (const archive::LaunchRecord& launch : archive::read_run(output_directory_).launches) {
        if (launch.run == run_.run) return archive::state_now(launch) == archive::LaunchState::kKilled;
      }
    } catch (const Error&) {
      // The run has no launch record, for instance because the disk is full.
    }
    return progress_.killed() || visitors::read_run(run_.directory).has_value();
  }

  std::optional<int> check_run() {
    progress_.listen(std::chrono::milliseconds(0));
    if (visitors::is_alive(run_)) return {};
    screen_.reset();
    if (was_killed()) throw Error(Code::kPeerLost, "the run {} was killed", run_.run);
    if (!arguments_.as_json) std::printf("the run %s has ended\n", run_.run.c_str());
    return kExitOk;
  }

  void show(const Observation& observation) {
    if (!screen_) {
      if (!arguments_.as_json && shown_) std::printf("\n");
      print(observation);
      shown_ = observation;
      return;
    }
    shown_ = observation;
    redraw();
  }

  void print(const Observation& observation) {
    if (arguments_.as_json) {
      const json all = json_of(progress_.headline(), observation);
      std::printf("%s\n", all.dump(arguments_.once ? 2 : -1, ' ', false, json::error_handler_t::replace).c_str());
    } else {
      std::fputs(plain_text(progress_.headline(), observation, choice_, terminal_width()).c_str(), stdout);
    }
    std::fflush(stdout);
  }

  void redraw() {
    if (!screen_ || !shown_) return;
    const TopView view = make_top_view(progress_.headline(), *shown_, choice_, TopScreen::size().columns);
    const std::size_t rows = rows_shown();
    first_row_ = std::min(first_row_, view.rows.size() - std::min(view.rows.size(), rows));
    std::vector<std::string> lines = view.head;
    lines.push_back(use_colours() ? "\033[7m" + view.columns + "\033[0m" : view.columns);
    for (std::size_t i = first_row_; i < view.rows.size() && i < first_row_ + rows; ++i) lines.push_back(view.rows[i]);
    lines.emplace_back();
    const bool scrolls = view.rows.size() > rows;
    std::string keys = fmt::format("q quit  s sort: {}  p {}{}", name_of_sort(choice_.sort),
                                   choice_.processes ? "components" : "processes", scrolls ? "  arrows scroll" : "");
    keys.resize(std::min(keys.size(), TopScreen::size().columns));
    lines.push_back(std::move(keys));
    screen_->draw(lines);
  }

  const TopArguments& arguments_;
  zmq::context_t context_;
  visitors::RunInfo run_;
  visitors::RegistryClient registry_;
  visitors::RunObserver observer_;
  std::string output_directory_;
  TopProgress progress_;
  TopChoice choice_;
  std::optional<TopScreen> screen_;
  std::optional<Observation> shown_;
  std::size_t first_row_ = 0;
  int signals_ = -1;
};

int show_top(const TopArguments& arguments) {
  Top top(arguments);
  return arguments.once ? top.once() : top.live();
}

}  // namespace

void add_top(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("top", "Show what each component does, and for which one it waits");
  verb->footer(
      "Keys: q quit, s sort, p processes, arrows scroll\n\n"
      "Examples:\n  trainyard top\n  trainyard top --once\n  trainyard top --json --interval 5");
  const auto arguments = std::make_shared<TopArguments>();
  arguments->run.add_to(*verb);
  verb->add_flag("--once", arguments->once, "print one picture and exit");
  verb->add_option("--interval", arguments->interval_s, "seconds between two pictures (1)")
      ->check(CLI::Range(0.1, 5.0));
  verb->add_flag("--processes", arguments->processes, "show processes instead of components");
  verb->add_flag("--json", arguments->as_json, "one JSON object for each picture");
  verb->callback([=, &chosen] { chosen = [=] { return show_top(*arguments); }; });
}

}  // namespace trainyard::tools
