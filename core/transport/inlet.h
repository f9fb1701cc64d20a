#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/edge/delivery.h"
#include "core/loop/event_loop.h"
#include "core/memory/shared_imports.h"
#include "core/transport/frames.h"
#include "messages/header.h"
#include "messages/plan.h"
#include "messages/subscription.h"

namespace trainyard {

class Inlet;

/// The receiving end of a remote edge: returns credit at half of the window, or after every message once the sender
/// asked for a flush.
class RemoteReceiver final : public Receiver {
 public:
  RemoteReceiver(Inlet& inlet, InputBase& input, const EdgePlan& plan, std::uint32_t subscription);

  void consumed(const Envelope& envelope) override;
  void flush();

  InputBase& input() const { return input_; }
  const EdgePlan& plan() const { return plan_; }
  bool connected = false;

 private:
  void return_credit();

  Inlet& inlet_;
  InputBase& input_;
  EdgePlan plan_;
  std::uint32_t subscription_;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  bool flushing_ = false;
};

/// The subscribing socket of one event loop towards one loop of another process: a DEALER.
class Inlet final : public Source {
 public:
  /// `process_index`: this process, under which it holds shared buffers.
  Inlet(zmq::context_t& context, const std::string& endpoint, std::uint32_t process_index);

  void subscribe(InputBase& input, const EdgePlan& edge);

  /// Called once, when every subscription has been acknowledged.
  void on_connected(std::function<void()> connected) { connected_ = std::move(connected); }
  /// Called when a subscription is refused or a message breaks the format.
  void on_error(std::function<void(InputBase&, const std::string&)> error) { error_ = std::move(error); }

  /// Nothing more comes: the peer is gone.
  const std::string& endpoint() const { return endpoint_; }

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  friend class RemoteReceiver;

  void handle_control(Frames& frames);
  void acknowledge(const Subscribed& answer);
  void handle_data(Frames& frames);
  std::vector<Buffer>& open_payloads(const Header& header, Frames& frames);

  std::string endpoint_;
  std::uint32_t process_index_;
  zmq::socket_t socket_;
  SharedImports imports_;
  std::vector<std::unique_ptr<RemoteReceiver>> receivers_;  ///< By subscription number.
  std::function<void()> connected_;
  std::function<void(InputBase&, const std::string&)> error_;
  Frames frames_;
  std::vector<Buffer> payloads_;
};

}  // namespace trainyard
