// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "messages/json.h"
#include "messages/message_type.h"

namespace trainyard {

class Component;

/// The part of a service that does not depend on its types. Its handler runs on the component's event loop, between two
/// other handlers.
class ServiceBase {
 public:
  virtual ~ServiceBase() = default;
  ServiceBase(const ServiceBase&) = delete;
  ServiceBase& operator=(const ServiceBase&) = delete;

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  const MessageType& request_type() const { return request_; }
  const MessageType& reply_type() const { return reply_; }

  /// Returns the answer to a request; both are JSON. If the handler throws, the error is reported to the caller and the
  /// component does not fail.
  virtual std::string call(const std::string& json) = 0;

 protected:
  ServiceBase(Component& owner, std::string name, std::string help, const MessageType& request,
              const MessageType& reply);

 private:
  std::string name_;
  std::string help_;
  const MessageType& request_;
  const MessageType& reply_;
};

/// A question that a component answers. Services use the control plane (JSON, through the launcher), so they are for
/// people, tools and rare decisions, not for the step.
template <Message Question, Message Answer>
class Service final : public ServiceBase {
 public:
  Service(Component& owner, std::string name, std::string help, std::function<Answer(const Question&)> handler)
      : ServiceBase(owner, std::move(name), std::move(help), message_type<Question>(), message_type<Answer>()),
        handler_(std::move(handler)) {}

  std::string call(const std::string& json) override { return to_json(handler_(from_json<Question>(json))); }

 private:
  std::function<Answer(const Question&)> handler_;
};

}  // namespace trainyard
