// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/files/file_descriptor.h"

namespace trainyard::core {

/// Returns a non-blocking socket that listens at `address`, which is in the form that ZeroMQ uses, such as
/// "tcp://0.0.0.0:7000", "tcp://[::1]:*" or "tcp://eth0:7000". With '*' in place of the port, the kernel chooses one.
/// `most_pending` is the maximum number of connections that wait to be accepted; clients beyond this number try again
/// after about a second. Throws kIo, with the address and the reason, if it cannot listen.
FileDescriptor listen_at(const std::string& address, int most_pending);

/// Returns the address at which a socket made by listen_at() listens, with the actual port.
std::string endpoint_of(const FileDescriptor& listener);

/// Sets the options of an accepted connection: it sends small messages immediately, and the kernel closes it about a
/// minute after the host at the other end has failed.
void prepare_connection(const FileDescriptor& socket);

}  // namespace trainyard::core
