// SPDX-License-Identifier: Apache-2.0
#include "collectives/testing/ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "core/testing/temporary_folder.h"

namespace trainyard::testing {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLongest = std::chrono::seconds(60);

RankEnd end_of(const RankFunction& function, std::uint32_t rank, core::Rendezvous& notes) {
  RankEnd end;
  try {
    end.text = function(rank, notes);
    end.returned = true;
  } catch (const Error& error) {
    end.code = error.code();
    end.text = error.what();
  } catch (const std::exception& error) {
    end.text = error.what();
  }
  return end;
}

/// A rank in a forked process. The process reports through a pipe how the rank's function ended.
class Child {
 public:
  Child(const RankFunction& function, std::uint32_t rank, const std::string& folder) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(Code::kIo, "no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      const auto notes = core::make_folder_rendezvous(folder);
      const RankEnd end = end_of(function, rank, *notes);
      const std::string said = std::string(1, end.returned ? 'y' : 'n') + static_cast<char>(end.code) + end.text;
      [[maybe_unused]] const auto ignored = ::write(ends[1], said.data(), said.size());
      ::_exit(0);  // Exits without destructors and exit handlers, which would clean up what belongs to the parent.
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }

  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(pipe_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  RankEnd wait(Clock::time_point until) {
    std::string said;
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      pollfd item{pipe_, POLLIN, 0};
      if (::poll(&item, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) <= 0) break;
      char bytes[4096];
      const auto count = ::read(pipe_, bytes, sizeof bytes);
      if (count <= 0) break;
      said.append(bytes, static_cast<std::size_t>(count));
    }
    if (said.size() < 2) return {.text = "its process did not say how it ended"};
    return {said[0] == 'y', static_cast<Code>(said[1]), said.substr(2)};
  }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

}  // namespace

std::vector<RankEnd> run_threads(std::uint32_t count, const RankFunction& function) {
  const auto notes = core::make_local_rendezvous();
  std::vector<RankEnd> ends(count);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] { ends[rank] = end_of(function, rank, *notes); });
  }
  for (std::thread& thread : threads) thread.join();
  return ends;
}

std::vector<RankEnd> run_processes(std::uint32_t count, const RankFunction& function,
                                   const std::vector<std::uint32_t>& victims) {
  const TemporaryFolder folder;
  std::vector<std::unique_ptr<Child>> children;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    children.push_back(std::make_unique<Child>(function, rank, folder.path("notes")));
  }
  std::vector<RankEnd> ends(count);
  const auto until = Clock::now() + kLongest;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (std::ranges::find(victims, rank) == victims.end()) ends[rank] = children[rank]->wait(until);
  }
  return ends;
}

}  // namespace trainyard::testing
