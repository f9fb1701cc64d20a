// SPDX-License-Identifier: Apache-2.0
#include "components/logger/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "components/logger/display.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using std::chrono_literals::operator""ms;

/// A pipe or a pseudo-terminal that the console writes to and the test reads from.
struct Pair {
  int read_end = -1, write_end = -1;

  static Pair pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return {ends[0], ends[1]};
  }
  static Pair terminal(unsigned short columns) {
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    EXPECT_EQ(::grantpt(master) + ::unlockpt(master), 0);
    const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
    winsize size{24, columns, 0, 0};
    EXPECT_EQ(::ioctl(slave, TIOCSWINSZ, &size), 0);
    return {master, slave};
  }
  ~Pair() {
    ::close(read_end);
    if (write_end >= 0) ::close(write_end);
  }
  std::string read_all() const {
    std::string all;
    char bytes[4096];
    for (ssize_t n; (n = ::read(read_end, bytes, sizeof bytes)) > 0;) all.append(bytes, static_cast<std::size_t>(n));
    return all;
  }
};

Metrics train(std::uint64_t step) {
  return {.step = step,
          .total_steps = 10,
          .stage = "train",
          .time_ns = static_cast<std::int64_t>(step) * 1'000'000'000,
          .samples = step,
          .values = {{"loss", 2}}};
}

TEST(ConsoleTest, ALineClearsTheLiveLineFirst) {
  const Pair pair = Pair::pipe();
  Console console(pair.write_end, false);
  console.live("50%");
  console.write_pending();
  console.line("saved");
  console.live("60%");  // Not drawn, because the line is still pending.
  console.write_pending();
  EXPECT_EQ(pair.read_all(), "\r\x1b[K50%\r\x1b[Ksaved\n");
}

TEST(ConsoleTest, AReaderThatDoesNotReadNeverBlocksAndLosesTheOldestLines) {
  const Pair pair = Pair::pipe();
  Console console(pair.write_end, false);
  const std::string text(99, 'x');
  for (int i = 0; i < 30'000; ++i) {  // Writes 3 MB into a pipe that holds 64 kB.
    console.line(text);
    console.write_pending();
  }
  EXPECT_TRUE(console.pending());
  std::string shown;
  while (console.pending()) {
    shown += pair.read_all();
    console.write_pending();
  }
  console.line("last");
  console.write_pending();
  shown += pair.read_all();
  EXPECT_LT(shown.size(), 2 * Console::kMaxPending);
  EXPECT_NE(shown.find(" lines were not shown: nobody read them)\nlast\n"), std::string::npos);
}

TEST(ConsoleTest, AReaderThatIsGoneIsForgotten) {
  Pair pair = Pair::pipe();
  Console console(pair.write_end, false);
  ::close(pair.read_end);
  pair.read_end = -1;
  console.line("nobody sees this");
  console.write_pending();  // Must not raise SIGPIPE, which would end the process.
  EXPECT_FALSE(console.pending());
}

TEST(ConsoleTest, WidthIsTheTerminalsOrEighty) {
  const Pair terminal = Pair::terminal(132), pipe = Pair::pipe();
  EXPECT_EQ(Console(terminal.write_end, false).width(), 132u);
  EXPECT_EQ(Console(pipe.write_end, false).width(), 80u);
}

TEST(ConsoleTest, TheDescriptorComesFromTheEnvironment) {
  ::setenv("TRAINYARD_CONSOLE_FD", "2", 1);
  EXPECT_EQ(console_descriptor(), 2);
  ::setenv("TRAINYARD_CONSOLE_FD", "two", 1);
  try {
    console_descriptor();
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "TRAINYARD_CONSOLE_FD is 'two'; allowed is the number of an open descriptor");
  }
  ::unsetenv("TRAINYARD_CONSOLE_FD");
  EXPECT_EQ(console_descriptor(), STDOUT_FILENO);
}

TEST(ConsoleTest, ColoursNeedATerminalAndNoRefusal) {
  const Pair terminal = Pair::terminal(80), pipe = Pair::pipe();
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(wants_colour(terminal.write_end));
  EXPECT_FALSE(wants_colour(pipe.write_end));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_colour(terminal.write_end));
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(is_live_terminal(terminal.write_end));
  ::setenv("TERM", "xterm", 1);
}

TEST(DisplayTest, LinesModeShowsEveryMetricsMessage) {
  const Pair pair = Pair::pipe();
  Display display(pair.write_end, Display::Mode::kLines, false);
  for (std::uint64_t step = 1; step <= 3; ++step) display.on(train(step));
  display.on(Metrics{.step = 3, .stage = "validate", .values = {{"loss", 1.5}}});
  display.finish();
  EXPECT_EQ(pair.read_all(),
            "step 1/10  loss 2.00000\nstep 2/10  loss 2.00000  1 samples/s  eta 00:08\n"
            "step 3/10  loss 2.00000  1 samples/s  eta 00:07\nvalidate  step 3  loss 1.50000\n");
}

TEST(DisplayTest, LinesOfStepsAreLimitedByTimeAndShowTheNewest) {
  const Pair pair = Pair::pipe();
  Display display(pair.write_end, Display::Mode::kLines, false, 1000ms);
  const auto start = Display::Clock::time_point{} + std::chrono::hours(1);
  for (std::uint64_t step = 1; step <= 9; ++step) {  // One step every 300 ms.
    display.on(train(step));
    display.refresh(start + 300ms * step);
  }
  const std::string shown = pair.read_all();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 3) << shown;
  for (const char* step : {"step 1/10", "step 5/10", "step 9/10"}) EXPECT_NE(shown.find(step), std::string::npos);
}

TEST(DisplayTest, AStepThatWaitsIsShownWhenItsTimeHasComeBeforeOtherLinesAndAtTheEnd) {
  const Pair pair = Pair::pipe();
  Display display(pair.write_end, Display::Mode::kLines, false, 1000ms);
  const auto start = Display::Clock::time_point{} + std::chrono::hours(1);
  display.on(train(1));
  EXPECT_FALSE(display.refresh(start));
  display.on(train(2));
  EXPECT_TRUE(display.refresh(start + 200ms)) << "it asks to be called again";
  EXPECT_FALSE(display.refresh(start + 1000ms));
  display.on(train(3));
  display.on(Metrics{.step = 3, .stage = "validate", .values = {{"loss", 1.5}}});
  display.on(train(4));
  display.finish();
  EXPECT_EQ(pair.read_all(),
            "step 1/10  loss 2.00000\nstep 2/10  loss 2.00000  1 samples/s  eta 00:08\n"
            "step 3/10  loss 2.00000  1 samples/s  eta 00:07\nvalidate  step 3  loss 1.50000\n"
            "step 4/10  loss 2.00000  1 samples/s  eta 00:06\n");
}

TEST(DisplayTest, TheLastStepIsShownAtOnce) {
  const Pair pair = Pair::pipe();
  Display display(pair.write_end, Display::Mode::kLines, false, 1000ms);
  const auto start = Display::Clock::time_point{} + std::chrono::hours(1);
  display.on(train(9));
  display.refresh(start);
  display.on(train(10));
  display.refresh(start + 200ms);
  EXPECT_NE(pair.read_all().find("step 10/10"), std::string::npos);
}

TEST(DisplayTest, TheLiveLineIsRedrawnTenTimesASecondAtMost) {
  const Pair pair = Pair::terminal(100);
  Display display(pair.write_end, Display::Mode::kLive, false);
  const auto start = Display::Clock::time_point{} + std::chrono::hours(1);
  for (std::uint64_t step = 1; step <= 10; ++step) {
    display.on(train(step));
    display.refresh(start + 10ms * step);
  }
  const std::string early = pair.read_all();
  EXPECT_NE(early.find("1/10"), std::string::npos);
  EXPECT_EQ(early.find("2/10"), std::string::npos);
  display.refresh(start + 10ms + Display::kRedraw);
  EXPECT_NE(pair.read_all().find("10/10"), std::string::npos);
}

TEST(DisplayTest, TheLiveLineEndsWithALineFeed) {
  const Pair pair = Pair::terminal(100);
  Display display(pair.write_end, Display::Mode::kLive, false);
  display.on(train(10));
  display.finish();
  EXPECT_TRUE(pair.read_all().ends_with("loss 2.00000\r\n"));  // A terminal adds the carriage return.
}

TEST(DisplayTest, EventsAreLinesOfTheirOwnAndCannotSteerTheTerminal) {
  const Pair pair = Pair::pipe();
  Display display(pair.write_end, Display::Mode::kLive, false);
  display.on(ModelInfo{.model = "gpt", .device = "cpu", .precision = "32-true", .parameters = 808'320});
  display.on(DatasetInfo{.dataset = "text", .batch_size = 12, .splits = {{.name = "train", .samples = 1'000'000}}});
  display.on(CheckpointDone{.step = 5, .path = "runs/a/checkpoints/step-00000005", .bytes = 12'300'000});
  display.on(CheckpointDone{.step = 6, .error = "disk full"});
  display.on(Prediction{.step = 5, .title = "sample", .text = "To \x1b[31mbe"});
  display.finish();
  EXPECT_EQ(pair.read_all(),
            "model gpt  808.3k parameters  cpu  32-true\ndataset text  train 1.0M  batch 12\n"
            "checkpoint  step 5  12.3 MB  runs/a/checkpoints/step-00000005\n"
            "checkpoint  step 6  failed: disk full\n--- sample, step 5 ---\nTo ?[31mbe\n");
}

}  // namespace
}  // namespace trainyard
