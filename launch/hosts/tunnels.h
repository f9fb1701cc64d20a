// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "launch/hosts/messages.h"
#include "launch/run/file_descriptor.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// The tunnels that begin or end on this host (docs/decisions/0036). A tunnel carries the bytes of one connection
/// between a visitor on one host (the near host) and the gateway of a process on another (the far host). The gateway is
/// the part of the process that serves visitors. For every such gateway, the near host has a socket in its run
/// directory, the entrance. A visitor connects to the entrance as it would to a gateway of its own host, and the far
/// host connects to the gateway as a visitor would. The bytes are passed on unchanged.
///
/// The amount of data under way is bounded: an end stops sending while the other end still has to pass kWindow bytes on
/// to its socket. So if a visitor does not read, only its own tunnel stops, and the gateway eventually drops messages
/// for this visitor.
class Tunnels {
 public:
  /// The maximum number of bytes that may be under way in one direction of a tunnel.
  static constexpr std::size_t kWindow = std::size_t{64} << 10;
  /// The maximum number of tunnels that visitors on one host may have to the gateways on one other host.
  static constexpr std::size_t kMost = 256;

  /// Sends a part to the host that it is for. Returns false if that host is not connected.
  using Send = std::function<bool(const TunnelPart& part)>;

  /// `host` is the number of this host, and `run_directory` the path of its run directory.
  Tunnels(PollLoop& loop, std::uint32_t host, std::string run_directory, Send send);
  ~Tunnels();
  Tunnels(const Tunnels&) = delete;
  Tunnels& operator=(const Tunnels&) = delete;

  /// Makes the entrance to the gateway of a process on another host. Throws kIo if the socket cannot be made.
  void open_entrance(const Entrance& entrance);

  /// Handles a part that another host has sent to this one. A part that violates the protocol ends its tunnel.
  void handle(const TunnelPart& part);

  /// Passes on what can be read and written now. Returns false if there was nothing to do. The poll loop calls this
  /// function whenever a socket is ready. An agent also calls it before it reports that a process has ended, so that
  /// visitors receive the last messages of the process.
  bool serve();

  /// Closes all tunnels to or from a host that is lost.
  void lose(std::uint32_t host);

  std::size_t size() const { return tunnels_.size(); }
  /// Returns the number of connections of visitors that were closed because there were too many.
  std::uint64_t refused() const { return refused_; }

 private:
  struct Door {
    Entrance entrance;
    FileDescriptor socket;
  };
  struct Tunnel {
    TunnelPart name;  ///< A part without content, which is addressed to the other end.
    FileDescriptor socket;
    std::string pending;        ///< What has come from the other end and is not yet written to the socket.
    std::size_t sent = 0;       ///< How many bytes were sent to the other end and not yet reported by it as written.
    std::size_t written = 0;    ///< How many bytes were written here and not yet reported to the other end.
    bool closing = false;       ///< True if the other end is closed: the tunnel ends when `pending` is written.
    std::uint32_t watched = 0;  ///< The events of the socket that are awaited.
  };
  using Key = std::uint64_t;
  using Iterator = std::map<Key, Tunnel>::iterator;

  static Key key_of(const TunnelPart& part);
  std::size_t between(std::uint32_t near_host, std::uint32_t far_host) const;
  void accept(const Door& door);
  // Accepts no connections for a while.
  void rest();
  void connect(const TunnelPart& part);
  void add(const TunnelPart& name, FileDescriptor socket);
  // Sets which events of the socket are awaited.
  void watch(Key key, Tunnel& tunnel);
  // The functions below return false if the tunnel must be closed.
  bool take(Tunnel& tunnel, const TunnelPart& part);
  bool read(Tunnel& tunnel);
  bool write(Tunnel& tunnel);
  bool send(const Tunnel& tunnel, std::string bytes, std::size_t written, bool closed = false);
  void close(Iterator tunnel, bool tell);

  PollLoop& loop_;
  std::uint32_t host_;
  std::string run_directory_;
  Send send_;
  FileDescriptor events_;
  PollLoop::Id watch_;
  PollLoop::Id rest_ = 0;
  std::map<std::uint32_t, Door> doors_;  ///< The entrances, by the index of the process.
  std::map<Key, Tunnel> tunnels_;
  std::uint32_t next_number_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace trainyard::launch
