// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "components/foxglove/clients.h"
#include "components/foxglove/errands.h"
#include "web/channel.h"

namespace trainyard::foxglove {

/// Handles the messages that one client sends. If a message is not allowed, the client gets a status message with the
/// reason, and the connection stays open.
class Client final : public web::ChannelHandler {
 public:
  /// All arguments must outlive this object.
  Client(web::Channel& channel, Clients& clients, Errands& errands, const std::string& server_info);
  ~Client() override;

  void on_message(std::string_view message, bool binary) override;

 private:
  void on_text(std::string_view message);
  void on_service_request(std::string_view message);
  void on_subscribe(const nlohmann::json& message);
  void on_unsubscribe(const nlohmann::json& message);
  void on_get_parameters(const nlohmann::json& message);
  void on_set_parameters(const nlohmann::json& message);
  void on_watch_parameters(const nlohmann::json& message, bool watch);
  // Posts a request to the run. The errand must call Clients::end_request() at its end.
  void ask(Errands::Errand errand);
  void require_control() const;
  void refuse(const std::string& reason);

  web::Channel& channel_;
  Clients& clients_;
  Errands& errands_;
  Clients::Id id_;
};

}  // namespace trainyard::foxglove
