// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/agreement.h"
#include "collectives/tcp/control.h"
#include "collectives/tcp/direct.h"
#include "collectives/tcp/slow_links.h"

namespace trainyard::tcp {

/// An agreement over TCP: every member sends each of its requests to all other members, together with the elements if
/// the operation is small. This object owns what all parts of the backend use: the streams (Links), and the object that
/// exchanges frames over the control streams (Control).
class TcpAgreement final : public collectives::Agreement {
 public:
  TcpAgreement(std::unique_ptr<Links> links, const std::vector<std::uint32_t>& ranks, std::size_t direct_bytes,
               std::shared_ptr<spdlog::logger> log)
      : links_(std::move(links)),
        control_(*links_, ranks, direct_bytes),
        direct_(control_, direct_bytes),
        slow_links_(*links_, ranks, std::move(log)) {}

  Links& links() { return *links_; }
  Control& control() { return control_; }
  Direct& direct() { return direct_; }

  bool announce(const collectives::Operation& operation) override;
  const Request* request_of(std::uint32_t member, const collectives::Operation& operation) const override {
    return control_.with(member).asked().request(operation.order);
  }
  void finished(const collectives::Operation& operation) override {
    control_.finish(operation.order);
    slow_links_.look();
  }
  void tell(const collectives::Failure& failure) override { control_.tell(failure); }
  std::optional<collectives::Failure> told() override { return control_.told(); }
  void receive() override { control_.receive(); }
  bool rest(const collectives::Pause& pause, const std::function<bool()>& look_again) override;
  void wake() override { links_->wake(); }
  void leave(bool failed) override;

 private:
  std::unique_ptr<Links> links_;
  Control control_;
  Direct direct_;
  SlowLinks slow_links_;
};

/// Finds out which members are still there, from the state of their TCP streams and with pings.
class TcpAttendance final : public collectives::Attendance {
 public:
  explicit TcpAttendance(Control& control) : control_(control) {}

  collectives::Presence presence(std::uint32_t member) override { return control_.with(member).life().presence(); }
  std::uint64_t signs(std::uint32_t member) const override { return control_.with(member).life().signs(); }
  void show(const collectives::Answer& answer) override { control_.answer_with(answer); }
  void probe() override { control_.ping(++probes_); }
  std::optional<collectives::Answer> answer(std::uint32_t member) const override {
    return control_.with(member).life().answer_to(probes_);
  }

 private:
  Control& control_;
  std::uint64_t probes_ = 0;
};

}  // namespace trainyard::tcp
