#include "collectives/collective.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/plugin/loader.h"
#include "messages/error.h"

namespace trainyard {
namespace {

constexpr const char* kAuto = "auto";

bool on_one_host(const CollectiveContext& context) {
  const auto hosts = exchange(*context.rendezvous, context.name + "/host", context.rank, context.ranks, host_identity(),
                              context.timeout);
  return !hosts.front().empty() && std::ranges::all_of(hosts, [&](const auto& host) { return host == hosts.front(); });
}

bool is_there(const PluginLoader& plugins, const std::string& name) {
  return std::ranges::any_of(plugins.list(), [&](const PluginLoader::Found& found) {
    return found.label.kind == Collective::kKind && found.label.name == name;
  });
}

std::string best(const CollectiveContext& context) {
  if (on_one_host(context)) return "shared_memory";
  return is_there(*context.plugins, "gloo") ? "gloo" : "zmq";
}

}  // namespace

std::string host_identity() {
  std::string identity;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), identity);
  return identity;
}

std::string_view name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kMean:
      return "mean";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kProduct:
      return "product";
  }
  return "invalid";
}

Collective::Collective(CollectiveContext& context)
    : Configurable(context.where, context.parameters), context_(context) {
  const auto found = std::ranges::find(context_.ranks, context_.rank);
  // Nothing is given while only the declaration is wanted.
  if (context_.ranks.empty()) return;
  if (found == context_.ranks.end()) {
    throw Error(Code::kInvalidArgument, "{}: rank {} is no member of the group '{}'", context_.where, context_.rank,
                context_.name);
  }
  rank_ = static_cast<std::uint32_t>(found - context_.ranks.begin());
}

Buffer Collective::allocate(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

void Collective::use(const Buffer&) {}

std::vector<std::string> Collective::all_gather_texts(const std::string& text) {
  std::vector<std::uint64_t> sizes(size());
  sizes[rank()] = text.size();
  all_gather({sizes.data(), DType::kInt64, sizes.size()}).wait();
  std::vector<std::uint64_t> bounds(size() + 1);
  for (std::uint32_t i = 0; i < size(); ++i) bounds[i + 1] = bounds[i] + sizes[i];
  std::string all(bounds.back(), '\0');
  text.copy(all.data() + bounds[rank()], text.size());
  if (!all.empty()) all_gather({all.data(), DType::kUInt8, all.size()}, bounds).wait();
  std::vector<std::string> texts;
  for (std::uint32_t i = 0; i < size(); ++i) texts.push_back(all.substr(bounds[i], sizes[i]));
  return texts;
}

std::vector<std::uint64_t> Collective::equal_parts(std::uint64_t count, std::uint32_t parts) {
  const std::uint64_t part = (count + parts - 1) / parts;
  std::vector<std::uint64_t> bounds;
  for (std::uint64_t i = 0; i <= parts; ++i) bounds.push_back(std::min(i * part, count));
  return bounds;
}

std::string Collective::member_name(std::uint32_t member) const {
  return fmt::format("rank {}", context_.ranks[member]);
}

void Collective::check_bounds(std::uint64_t count, std::span<const std::uint64_t> bounds) const {
  if (bounds.empty()) return;
  if (bounds.size() == size() + 1 && bounds.front() == 0 && bounds.back() == count && std::ranges::is_sorted(bounds)) {
    return;
  }
  throw Error(Code::kInvalidArgument, "{}: {} bounds from {} to {} do not cut {} elements into {} parts", where(),
              bounds.size(), bounds.front(), bounds.back(), count, size());
}

std::unique_ptr<Collective> make_world(const PluginContext& context, const std::string& name, const PluginSpec& plugin,
                                       std::chrono::milliseconds timeout) {
  CollectiveContext group;
  static_cast<PluginContext&>(group) = context;
  group.name = name;
  for (std::uint32_t rank = 0; rank < context.world_size; ++rank) group.ranks.push_back(rank);
  group.timeout = timeout;
  return make_collective(plugin, group);
}

std::unique_ptr<Collective> make_collective(const PluginSpec& plugin, const CollectiveContext& context) {
  const std::string name = plugin.plugin == kAuto ? best(context) : plugin.plugin;
  CollectiveContext inner = context;
  inner.where = fmt::format("collective '{}' ({}) of {}", name, context.name, context.where);
  inner.parameters = plugin.parameters;
  std::unique_ptr<Collective> made = context.plugins->create<Collective>(name, inner);
  made->check_all_given_are_known();
  made->connect();
  return made;
}

}  // namespace trainyard
