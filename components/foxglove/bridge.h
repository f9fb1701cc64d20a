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

/// Connects the clients with a run: a thread of its own listens to the topics that clients want, and asks the registry
/// once a second what there is.
class Bridge {
 public:
  /// `complain` is called on the thread of this object when the run cannot be watched, once for each new reason.
  Bridge(visitors::RunInfo run, std::function<void(const std::string&)> complain);
  /// The handlers that open() has returned must be gone.
  ~Bridge();
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  /// Begins to serve the client on `channel`. Returns the handler of its messages, which must be destroyed before this
  /// bridge.
  std::unique_ptr<web::ChannelHandler> open(web::Channel& channel);

 private:
  class Session;

  void run();

  visitors::RunInfo run_;
  std::function<void(const std::string&)> complain_;
  std::string session_;  ///< Differs for every start of the bridge.
  Clients clients_;
  std::atomic<bool> reading_parameters_{false};
  std::atomic<bool> stop_{false};
  Errands errands_;
  std::thread thread_;
};

}  // namespace trainyard::foxglove
