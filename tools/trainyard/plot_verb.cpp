// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "archive/small_file.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/past_runs.h"
#include "tools/trainyard/plot.h"
#include "tools/trainyard/plot_source.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

constexpr const char* kPlotFooter =
    "RUN is an output directory, a name below runs/, the full name of a launch,\n"
    "or a file metrics_<stage>.csv or metrics.jsonl.\n"
    "Examples:\n"
    "  trainyard plot mnist\n"
    "  trainyard plot mnist wide --y validate/loss --x time --log\n"
    "  trainyard plot mnist --smooth 0.9 --svg loss.svg";

/// The largest number of curves. More curves could not be distinguished.
constexpr std::size_t kMostCurves = 32;

/// How often `plot --follow` looks for new metrics. A run writes its metrics to the disk once a second.
constexpr std::chrono::milliseconds kBetweenLooks{500};

struct PlotArguments {
  std::vector<std::string> sources;
  std::vector<std::string> metrics{"loss"};
  std::string axis = "step";
  std::string folder = kRunsFolder;
  std::string svg;
  double smooth = 0;
  std::size_t width = 0;   ///< The width in characters, or in pixels of an SVG picture; 0 for the default.
  std::size_t height = 0;  ///< The height in the same unit; 0 for the default.
  bool logarithmic = false;
  bool ascii = false;
  bool follow = false;
};

using Sources = std::vector<std::unique_ptr<PlotSource>>;

/// Converts long times on the horizontal axis to minutes or hours, which are easier to read.
void choose_unit_of_time(Plot& plot) {
  double longest = 0;
  for (const Curve& curve : plot.curves) longest = std::max(longest, curve.x.empty() ? 0 : curve.x.back());
  const auto [unit, name] = longest > 3 * 3600.0 ? std::pair(3600.0, "time (h)")
                            : longest > 300      ? std::pair(60.0, "time (min)")
                                                 : std::pair(1.0, "time (s)");
  plot.x_name = name;
  for (auto* curves : {&plot.curves, &plot.rough}) {
    for (Curve& curve : *curves) {
      for (double& x : curve.x) x /= unit;
    }
  }
}

[[noreturn]] void refuse_metric(const std::string& metric, const Sources& sources) {
  // If the user has given no stage, names are suggested without their stages, too.
  const bool with_stage = metric.find('/') != std::string::npos;
  std::vector<std::string> known;
  for (const auto& source : sources) {
    for (std::string name : source->metrics()) {
      if (!with_stage) name.erase(0, name.find('/') + 1);
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  throw Error(Code::kNotFound, "no metric '{}'{}", metric, suggestion(metric, std::move(known)));
}

Plot plot_of(const PlotArguments& arguments, const Sources& sources) {
  const PlotAxis axis = from_name<PlotAxis>(arguments.axis);
  Plot plot{{}, {}, arguments.axis, arguments.logarithmic};
  for (const std::string& metric : arguments.metrics) {
    const std::size_t before = plot.curves.size();
    for (const auto& source : sources) {
      for (Curve& curve : source->curves(metric, axis)) {
        if (sources.size() > 1) curve.name = source->name() + " " + curve.name;
        if (arguments.smooth > 0) plot.rough.push_back(curve);
        plot.curves.push_back(smoothed(curve, arguments.smooth));
      }
    }
    if (plot.curves.size() == before) refuse_metric(metric, sources);
  }
  if (plot.curves.size() > kMostCurves) {
    throw Error(Code::kInvalidArgument, "{} curves are too many for one plot; at most {} can be told apart",
                plot.curves.size(), kMostCurves);
  }
  if (axis == PlotAxis::kTime) choose_unit_of_time(plot);
  return plot;
}

/// Returns true if the terminal, or the program that reads the output, can probably show braille characters.
bool shows_braille() {
  std::setlocale(LC_CTYPE, "");
  const bool utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  const char* terminal = std::getenv("TERM");
  const std::string_view name = terminal == nullptr ? "" : terminal;
  // The fonts of the Linux console lack these characters.
  return utf8 && name != "linux" && name != "dumb";
}

TerminalStyle style_of(const PlotArguments& arguments, std::size_t curves) {
  TerminalStyle style;
  winsize size = {};
  const bool terminal = ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (terminal && size.ws_col > 0) style.columns = size.ws_col;
  // Room is left for the legend and for the shell prompt.
  if (terminal && size.ws_row > 0) style.rows = std::clamp<std::size_t>(size.ws_row - curves - 2, 8, 30);
  if (arguments.width > 0) style.columns = arguments.width;
  if (arguments.height > 0) style.rows = arguments.height;
  style.colours = use_colours();
  // Without colours, several curves can be distinguished only by their marks, so braille characters are not used.
  style.unicode = !arguments.ascii && shows_braille() && (style.colours || curves == 1);
  return style;
}

void print_warnings(const Sources& sources) {
  for (const auto& source : sources) {
    const std::string sentence = source->damage();
    if (!sentence.empty()) fmt::print(stderr, "warning: {}\n", printable_line(sentence));
  }
}

/// Replaces the previous picture, which has `lines` lines, and returns the number of lines of the new picture. Draws
/// nothing if a run has just begun and has no metrics yet.
std::size_t draw_again(const PlotArguments& arguments, const Sources& sources, std::size_t lines, bool goes_on) {
  std::string text;
  try {
    const Plot plot = plot_of(arguments, sources);
    text = draw_in_terminal(plot, style_of(arguments, plot.curves.size()));
  } catch (const Error& error) {
    if (error.code() != Code::kNotFound || !goes_on) throw;
    return lines;
  }
  if (lines > 0) fmt::print("\033[{}A\033[J", lines);
  fmt::print("{}", text);
  std::fflush(stdout);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Draws the picture again whenever there are new metrics, until all runs have ended.
int follow(const PlotArguments& arguments, const Sources& sources) {
  std::size_t lines = 0;
  for (bool changed = true;; changed = false) {
    // This is checked before reading, so that the last metrics of a run are not missed: a run writes them before it
    // ends.
    const bool goes_on = std::ranges::any_of(sources, [](const auto& source) { return source->goes_on(); });
    for (const auto& source : sources) changed = source->update() || changed;
    if (changed) lines = draw_again(arguments, sources, lines, goes_on);
    if (!goes_on) return kExitOk;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

int plot_runs(const PlotArguments& arguments) {
  if (arguments.follow && (!arguments.svg.empty() || ::isatty(STDOUT_FILENO) != 1)) {
    throw Error(Code::kInvalidArgument, "--follow draws again and again, which only a terminal can show");
  }
  Sources sources;
  for (const std::string& word : arguments.sources) {
    sources.push_back(std::make_unique<PlotSource>(word, arguments.folder));
    sources.back()->update();
  }
  print_warnings(sources);
  if (arguments.follow) return follow(arguments, sources);
  const Plot plot = plot_of(arguments, sources);
  if (arguments.svg.empty()) {
    fmt::print("{}", draw_in_terminal(plot, style_of(arguments, plot.curves.size())));
  } else {
    const std::string picture =
        draw_as_svg(plot, arguments.width > 0 ? arguments.width : 900, arguments.height > 0 ? arguments.height : 500);
    if (arguments.svg == "-") {
      fmt::print("{}", picture);
    } else {
      archive::write_whole_file(arguments.svg, picture);
    }
  }
  return kExitOk;
}

}  // namespace

void add_plot(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("plot", "Draw curves in the terminal, or as a picture")->footer(kPlotFooter);
  const auto arguments = std::make_shared<PlotArguments>();
  verb->add_option("RUN", arguments->sources, "runs, or files with metrics")->required();
  verb->add_option("--y", arguments->metrics, "metrics; loss means the loss in every stage (loss)")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb->add_option("--x", arguments->axis, "step, time or samples (step)")
      ->check(CLI::IsMember({"step", "time", "samples"}))
      ->type_name("");
  verb->add_flag("--log", arguments->logarithmic, "logarithmic vertical axis");
  verb->add_option("--smooth", arguments->smooth, "weight of earlier values, 0 to 0.999 (0)")
      ->check(CLI::Range(0.0, 0.999))
      ->type_name("");
  verb->add_option("--width", arguments->width, "in characters, or pixels of a picture")
      ->check(CLI::Range(20, 10'000))
      ->type_name("N");
  verb->add_option("--height", arguments->height, "likewise")->check(CLI::Range(5, 10'000))->type_name("N");
  verb->add_option("--svg", arguments->svg, "write a picture to this file (- for stdout)")->type_name("FILE");
  verb->add_flag("--ascii", arguments->ascii, "no braille characters");
  verb->add_flag("--follow", arguments->follow, "redraw until the runs have ended");
  verb->add_option("--in", arguments->folder, "search this folder for runs by name (runs)")->type_name("FOLDER");
  verb->callback([=, &chosen] { chosen = [=] { return plot_runs(*arguments); }; });
}

}  // namespace trainyard::tools
