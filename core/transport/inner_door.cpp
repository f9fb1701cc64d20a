// SPDX-License-Identifier: Apache-2.0
#include "core/transport/inner_door.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "core/files/socket_folder.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

/// The path of a file without a name, of which this process has a descriptor.
std::string path_of(const FileDescriptor& file) { return fmt::format("/proc/self/fd/{}", file.get()); }

}  // namespace

// The folder is removed at the end of this function. The descriptor still leads to the socket.
InnerDoor::InnerDoor(zmq::socket_t& socket, int most_pending) {
  const SocketFolder folder("the filter for strangers");
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
