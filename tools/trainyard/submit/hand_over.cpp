// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/hand_over.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "launch/plan/child_output.h"
#include "launch/run/file_descriptor.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::tools::submit {
namespace {

constexpr std::chrono::minutes kPatience{2};
constexpr std::size_t kMostOutput = std::size_t{1} << 20;

/// A temporary file that only this user can read. The destructor removes it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) : path_(std::filesystem::temp_directory_path() / "trainyard-XXXXXX") {
    const launch::FileDescriptor file(::mkstemp(path_.data()));
    if (!file) throw Error(Code::kIo, "cannot make a temporary file {}: {}", path_, std::strerror(errno));
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
      if (written < 0) throw Error(Code::kIo, "cannot write the temporary file {}: {}", path_, std::strerror(errno));
      done += static_cast<std::size_t>(written);
    }
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

void require_program(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access(((folder.empty() ? "." : folder) + "/" + program).c_str(), X_OK) == 0) return;
  }
  throw Error(Code::kNotFound,
              "there is no program {} in PATH; call `trainyard submit` where there is, or write the job to a file with "
              "--dry-run",
              program);
}

std::string hand_over_file(std::vector<std::string> command, const std::string& text) {
  require_program(command.front());
  const TemporaryFile file(text);
  command.push_back(file.path());
  const launch::ChildOutput output = launch::run_child(command, kPatience, {}, kMostOutput);
  if (output.succeeded()) return output.text;
  if (output.timed_out) {
    throw Error(Code::kTimeout, "{} did not answer within {} minutes; the job may be in the queue nevertheless",
                command.front(), kPatience.count());
  }
  throw Error(Code::kIo, "{} refused the job: {}", command.front(), printable(output.failure()));
}

}  // namespace trainyard::tools::submit
