// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <zmq.hpp>

#include "visitors/run_info.h"

namespace trainyard::visitors {

// The front door of a run is where visitors from other hosts attach (the component front_door). Its address names the
// key by which the visitor is known there: "laptop@tcp://node7:7401".

/// What a front door says of a publisher instead of an address: subscribe where you have asked.
inline constexpr const char* kSameDoor = "door";

/// The milliseconds after which a visitor of a door tries to connect again: at first, and at most.
inline constexpr int kFirstRetry = 100;
inline constexpr int kLastRetry = 6400;

/// Returns true for the address of a front door with a key.
bool is_door(std::string_view address);

/// Connects a socket of a visitor to a registry or a gateway of this host, or to a front door. For a door, the socket
/// presents the visitor's key, and accepts only the owner of the host's key: the known key that has the name of the
/// host, or else the only known key with the role member. Throws kNotFound if a key is missing, and kIo.
void connect_visitor(zmq::socket_t& socket, const std::string& address);

/// Connects to a front door, and returns the run behind it. In `address`, the key may be missing if the user has only
/// one with the role watch or control. Throws kNotFound if a key is missing or nobody listens at the address, and
/// kInvalidArgument if the door does not admit the key, or if it has not the key of the host that it should be.
RunInfo run_at_door(const std::string& address);

}  // namespace trainyard::visitors
