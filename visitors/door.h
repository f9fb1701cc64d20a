// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <zmq.hpp>

#include "visitors/run_info.h"

namespace trainyard::visitors {

// The front door of a run is where visitors from other hosts attach (the component front_door). Its address names the
// key by which the visitor is known there: "laptop@tcp://node7:7401".

/// A front door uses this text as the address of every publisher. It means: subscribe at the door where you have asked.
inline constexpr const char* kSameDoor = "door";

/// The shortest and the longest time, in milliseconds, after which a visitor tries to connect to a door again.
inline constexpr int kFirstRetry = 100;
inline constexpr int kLastRetry = 6400;

/// Returns true for the address of a front door with a key.
bool is_door(std::string_view address);

/// Connects a socket of a visitor to a registry or a gateway of this host, or to a front door. For a door, the socket
/// presents the visitor's key, and accepts only the owner of the host's key: the known key that has the name of the
/// host, or else the only known key with the role `member`. Throws kNotFound if a key is missing, and kIo if the socket
/// cannot be connected.
void connect_visitor(zmq::socket_t& socket, const std::string& address);

/// Connects to a front door, and returns the run behind it. The key may be missing in `address` if the user has only
/// one key with the role `watch` or `control`. Throws kNotFound if a key is missing or nobody listens at the address.
/// Throws kInvalidArgument if the door does not admit the key, or if the door itself has another key than expected.
RunInfo run_at_door(const std::string& address);

}  // namespace trainyard::visitors
