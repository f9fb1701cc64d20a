// SPDX-License-Identifier: Apache-2.0
#include "collectives/gloo/process_group.h"

#include <gloo/transport/unbound_buffer.h>
#include <pthread.h>
#include <signal.h>

#include <limits>

#include "collectives/gloo/store.h"
#include "messages/error.h"

namespace trainyard::collectives {
namespace {

constexpr const char* kLoopback = "lo";

c10d::ReduceOp::RedOpType gloo_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMin:
      return c10d::ReduceOp::MIN;
    case ReduceOp::kMax:
      return c10d::ReduceOp::MAX;
    case ReduceOp::kProduct:
      return c10d::ReduceOp::PRODUCT;
    default:
      return c10d::ReduceOp::SUM;
  }
}

/// Blocks SIGPIPE in this thread as long as the object exists. Threads that are started meanwhile keep it blocked.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~WithoutSigpipe() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// Gloo's threads write to sockets without blocking SIGPIPE. So in a program that does not ignore this signal, a rank
// that dies would kill the others.
//
// Gloo gets twice the timeout, so that the timeout of the engine, whose error names the rank to blame, expires first.
c10::intrusive_ptr<GlooGroup> GlooGroup::connect(const CollectiveContext& context, std::uint32_t own) {
  const WithoutSigpipe guard;
  const auto options = Options::create(2 * context.timeout);
  try {
    options->devices.push_back(createDeviceForInterface(kLoopback));
  } catch (const std::exception& error) {
    throw Error(Code::kUnsupported, "{}: this LibTorch cannot use Gloo: {}", context.where, error.what());
  }
  const c10::intrusive_ptr<c10d::Store> store =
      c10::make_intrusive<NoteStore>(*context.rendezvous, context.name + "/gloo/", context.timeout);
  return c10::make_intrusive<GlooGroup>(store, static_cast<int>(own), static_cast<int>(context.ranks.size()), options);
}

GlooGroup::Job GlooGroup::start_all_reduce(at::Tensor data, ReduceOp op) {
  std::vector<at::Tensor> tensors{std::move(data)};
  c10d::AllreduceOptions options;
  options.reduceOp = gloo_op(op);
  return allreduce(tensors, options);
}

GlooGroup::Job GlooGroup::start_broadcast(at::Tensor data, std::uint32_t root) {
  std::vector<at::Tensor> tensors{std::move(data)};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  return broadcast(tensors, options);
}

GlooGroup::Job GlooGroup::start_all_gather(std::vector<at::Tensor> parts, std::uint32_t own) {
  std::vector<at::Tensor> inputs{parts[own]};
  std::vector<std::vector<at::Tensor>> outputs{std::move(parts)};
  return allgather(outputs, inputs);
}

// Closing a connection does not wake a thread that waits for it. So this function starts a receive that times out, upon
// which Gloo gives up all connections of the context.
void GlooGroup::abort() {
  constexpr std::uint64_t kNobodysSlot = std::numeric_limits<std::uint64_t>::max();
  for (const auto& connections : contexts_) {
    std::byte nothing{};
    const auto buffer = connections->createUnboundBuffer(&nothing, 1);
    try {
      buffer->recv(connections->rank == 0 ? 1 : 0, kNobodysSlot);
      buffer->waitRecv(std::chrono::milliseconds(1));
    } catch (const std::exception&) {  // The timeout is intended.
    }
  }
}

}  // namespace trainyard::collectives
