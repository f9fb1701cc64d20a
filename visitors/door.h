// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <zmq.hpp>

#include "visitors/run_info.h"

namespace trainyard::visitors {

// Visitors from other hosts attach to a run at its front door (the component front_door). The address that a visitor
// uses also names the key by which the visitor is known there: "laptop@tcp://node7:7401".

/// A front door (the component through which visitors from other hosts attach) reports this word as the address of
/// every publisher. The word tells the visitor to subscribe at the front door itself.
inline constexpr const char* kSameDoor = "door";

/// The shortest and the longest delay, in milliseconds, before a visitor that has lost its connection to a front door
/// tries to connect again. The delay grows from one attempt to the next.
inline constexpr int kFirstRetry = 100;
inline constexpr int kLastRetry = 6400;

/// Returns true if `address` is the address of a front door and names a key, such as "laptop@tcp://node7:7401".
bool is_door(std::string_view address);

/// Connects a socket of a visitor to a launcher or another process of a run on this host, or to a front door. With a
/// front door, the socket uses the visitor's key, and accepts only a door with the expected key. This is the known
/// public key that is named after the host in `address` or, if there is none, the only known public key with the role
/// `member`. Throws kNotFound if a key is missing, kUnsupported for an address on another host that is not a front
/// door, and kIo if the socket cannot be connected.
void connect_visitor(zmq::socket_t& socket, const std::string& address);

/// Connects to a front door (the component of a run through which visitors from other hosts attach), and returns
/// information about the run. `address` need not name a key if the user has only one key with the role `watch` or
/// `control`. Throws kNotFound if a key is missing or nobody listens at the address. Throws kInvalidArgument if the
/// door does not admit the key, or if the key of the door itself is not the expected one; see connect_visitor().
RunInfo run_at_door(const std::string& address);

}  // namespace trainyard::visitors
