// SPDX-License-Identifier: Apache-2.0
#include "core/transport/inner_door.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "messages/error.h"

namespace trainyard::core {
namespace {

/// The path of a file without a name, of which this process has a descriptor.
std::string path_of(const FileDescriptor& file) { return fmt::format("/proc/self/fd/{}", file.get()); }

/// Returns the folder for temporary files, or /tmp if the address of a Unix socket could not contain its path.
std::string temporary_folder() {
  constexpr std::size_t kLongestPath = 80;
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  return error || folder.size() > kLongestPath ? "/tmp" : folder;
}

/// A folder that only this user can enter. The destructor removes it.
class PrivateFolder {
 public:
  PrivateFolder() : path_(temporary_folder() + "/trainyard_XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr)
      throw Error(Code::kIo, "cannot make a folder like {}: {}", path_, std::strerror(errno));
  }
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

// The folder is removed at the end of this function. The descriptor still leads to the socket.
InnerDoor::InnerDoor(zmq::socket_t& socket, int most_pending) {
  const PrivateFolder folder;
  const std::string path = folder.path() + "/door";
  try {
    socket.set(zmq::sockopt::backlog, most_pending);
    socket.bind("ipc://" + path);
  } catch (const zmq::error_t& error) {
    throw Error(Code::kIo, "cannot bind {}: {}", path, error.what());
  }
  door_ = FileDescriptor(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!door_) throw Error(Code::kIo, "cannot open {}: {}", path, std::strerror(errno));
  if (::access(path_of(door_).c_str(), W_OK) != 0)
    throw Error(Code::kUnsupported, "{}: {}; is /proc mounted?", path_of(door_), std::strerror(errno));
}

FileDescriptor InnerDoor::connect() const {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  std::ranges::copy(path_of(door_), to.sun_path);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) socket.reset();
  return socket;
}

}  // namespace trainyard::core
