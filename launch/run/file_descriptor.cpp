// SPDX-License-Identifier: Apache-2.0
#include "launch/run/file_descriptor.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "messages/error.h"

namespace trainyard::launch {

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(Code::kIo, "cannot make a pipe: {}", std::strerror(errno));
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace trainyard::launch
