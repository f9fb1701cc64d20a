// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/front_door.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "components/front_door/reception.h"
#include "core/files/regular_file.h"
#include "core/keys/key_file.h"
#include "core/keys/key_folder.h"
#include "messages/error.h"
#include "visitors/run_info.h"

namespace trainyard {
namespace {

constexpr off_t kLargestList = 1 << 20;

/// Throws if the file with the visitors' keys is too long, or if other users may change it, because they could then let
/// themselves in and change the run.
void check_list(const std::string& path, const struct stat& status) {
  if (status.st_size > kLargestList) {
    throw Error(Code::kInvalidArgument, "{}: a list of keys has at most {} bytes", path, kLargestList);
  }
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    throw Error(Code::kInvalidArgument, "{}: this list of keys belongs to user {}; it must belong to you or to root",
                path, status.st_uid);
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Error(Code::kInvalidArgument, "{}: others may change this list of keys (mode {:o}); use `chmod go-w`", path,
                status.st_mode & 07777U);
  }
}

core::AllowList read_allow_list(const std::string& path) {
  check_list(path, core::require_regular_file(path));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return core::AllowList::read(text.str(), path);
}

/// Throws unless the key has the role member. Visitors recognise the run by this key, so it must not be a key of a
/// visitor.
void require_member(const core::Key& key) {
  if (key.role == core::Role::kMember) return;
  throw Error(Code::kInvalidArgument,
              "the key '{}' has the role {}; the key of a front door needs the role member (`trainyard keys new NAME "
              "--role member`)",
              key.name, name_of(key.role));
}

/// Returns the address for ZeroMQ, in which IPv6 addresses are in brackets and `*` stands for any free port.
std::string tcp_address(const std::string& address, std::int64_t port) {
  const bool is_v6 = address.find(':') != std::string::npos && !address.starts_with('[');
  return fmt::format("tcp://{}:{}", is_v6 ? "[" + address + "]" : address, port == 0 ? "*" : std::to_string(port));
}

}  // namespace

FrontDoorComponent::FrontDoorComponent(ComponentContext& context) : Component(context, kTraits) {}

FrontDoorComponent::~FrontDoorComponent() = default;

core::AllowList FrontDoorComponent::allowed() const {
  core::AllowList list = allow_list_->empty() ? core::AllowList() : read_allow_list(*allow_list_);
  for (const std::string& name : *visitors_) list.add(core::KeyFolder().find(name));
  if (!list.empty()) return list;
  throw Error(Code::kInvalidArgument,
              std::string("no visitor is admitted: name their keys in the parameter `visitors`, such as "
                          "visitors = [\"laptop\"]; `trainyard keys list` shows the keys"));
}

void FrontDoorComponent::on_configure() {
  const core::Key key = key_file_->empty() ? core::KeyFolder().own(*key_) : core::read_key_file(*key_file_);
  require_member(key);
  reception_ = std::make_unique<front_door::Reception>(loop(), tcp_address(*address_, *port_), key, allowed(),
                                                       [this](const std::string& text) { log().warn("{}", text); });
  fmt::print(stderr, "{}: visitors connect to {}, whose key is '{}' ({})\n", name(), reception_->endpoint(), key.name,
             key.fingerprint());
  std::fflush(stderr);
}

void FrontDoorComponent::on_activate() { reception_->open(visitors::own_run().registry); }

void FrontDoorComponent::on_finalize() { reception_.reset(); }

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::FrontDoorComponent, "front_door", "Lets visitors from other hosts attach, with keys")
