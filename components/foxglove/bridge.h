// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "components/foxglove/clients.h"
#include "components/foxglove/errands.h"
#include "visitors/run_info.h"
#include "web/channel.h"

namespace trainyard::foxglove {

/// Connects Foxglove clients to a run. A thread of the bridge listens to the topics that clients have subscribed to.
/// Once a second, it asks the run's registry (the socket at which the launcher answers questions about the run) which
/// topics, services and parameters exist.
class Bridge {
 public:
  /// If the run cannot be watched, for instance because the launcher does not answer, the thread of the bridge calls
  /// `complain` with the reason, once for each new reason.
  Bridge(visitors::RunInfo run, std::function<void(const std::string&)> complain);
  /// All handlers that open() has returned must already have been destroyed.
  ~Bridge();
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  /// Begins to serve the client that is connected through `channel`. Returns the handler of its messages, which must be
  /// destroyed before the bridge.
  std::unique_ptr<web::ChannelHandler> open(web::Channel& channel);

 private:
  class Session;

  void run();

  visitors::RunInfo run_;
  std::function<void(const std::string&)> complain_;
  std::string session_;  ///< A text that is different each time the bridge is started; see server_info().
  Clients clients_;
  std::atomic<bool> reading_parameters_{false};
  std::atomic<bool> stop_{false};
  Errands errands_;
  std::thread thread_;
};

}  // namespace trainyard::foxglove
