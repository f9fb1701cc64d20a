// SPDX-License-Identifier: Apache-2.0
#include "collectives/nccl/nccl.h"

#include <cstring>
#include <optional>

#include "collectives/mesh_agreement.h"
#include "collectives/nccl/device.h"
#include "collectives/rank_order.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/error.h"

namespace trainyard::collectives {
namespace {

/// Returns NCCL's name of an element type. NCCL supports all element types except int16 and bool.
ncclDataType_t nccl_type(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return ncclUint8;
    case DType::kInt8:
      return ncclInt8;
    case DType::kInt32:
      return ncclInt32;
    case DType::kInt64:
      return ncclInt64;
    case DType::kFloat16:
      return ncclFloat16;
    case DType::kBFloat16:
      return ncclBfloat16;
    case DType::kFloat32:
      return ncclFloat32;
    case DType::kFloat64:
      return ncclFloat64;
    default:
      throw Error(Code::kUnsupported, "NCCL does not reduce {} in device memory", name_of(dtype));
  }
}

ncclRedOp_t nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMin:
      return ncclMin;
    case ReduceOp::kMax:
      return ncclMax;
    case ReduceOp::kProduct:
      return ncclProd;
    case ReduceOp::kMean:
      return ncclAvg;
    default:
      return ncclSum;
  }
}

/// What a rank needs for NCCL: its GPU, a CUDA stream for this group only, and the communicator.
struct NcclEnd {
  int device = 0;
  cudaStream_t stream = nullptr;
  ncclComm_t communicator = nullptr;
  std::uint32_t size = 0;
};

/// Carries out one operation. Elements in host memory are converted if necessary (WorkingForm) and copied to device
/// memory that belongs to the transfer.
class NcclTransfer final : public Transfer {
 public:
  NcclTransfer(const NcclEnd& end, const Operation& operation)
      : end_(end), operation_(operation), in_place_(operation.data.space.is_device()) {
    check_place();
    check_cuda(cudaEventCreateWithFlags(&finished_, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~NcclTransfer() override { cudaEventDestroy(finished_); }

  Progress advance(Effort) override {
    if (!started_) start();
    ncclResult_t state = ncclSuccess;
    check_nccl(ncclCommGetAsyncError(end_.communicator, &state), "NCCL");
    check_nccl(state, "NCCL");
    const cudaError_t result = cudaEventQuery(finished_);
    if (result == cudaErrorNotReady) return Progress::kNothing;
    check_cuda(result, "NCCL's stream");
    if (!in_place_) convert(false);
    return Progress::kFinished;
  }

 private:
  void check_place() const {
    const MemorySpace space = operation_.data.space;
    const bool is_there = is_device_memory(operation_.data.data);
    if (is_there != space.is_device()) {
      throw Error(Code::kInvalidArgument, "elements said to be in {} lie in memory of {}", name_of(space),
                  is_there ? "a device" : "the host");
    }
    if (is_there && space.device != end_.device) {
      throw Error(Code::kUnsupported, "elements lie in {}, but this group was made for device {}", name_of(space),
                  end_.device);
    }
  }

  void start() {
    started_ = true;
    const Elements& data = operation_.data;
    form_ = form();
    void* memory = data.data;
    if (!in_place_) {
      staging_ = Buffer::heap(data.count * size_of(form_.dtype));
      convert(true);
      device_.emplace(staging_.size());
      memory = device_->data();
      copy(memory, staging_.data(), cudaMemcpyHostToDevice);
    }
    run(memory);
    if (!in_place_) copy(staging_.data(), memory, cudaMemcpyDeviceToHost);
    check_cuda(cudaEventRecord(finished_, end_.stream), "cudaEventRecord");
  }

  WorkingForm form() const {
    const DType dtype = operation_.data.dtype;
    if (!operation_.reduces() || in_place_) return {dtype, operation_.request.op, 1};
    return working_form(operation_.request.op, dtype, end_.size);
  }

  void convert(bool there) {
    const Elements& data = operation_.data;
    if (!operation_.reduces()) {
      std::memcpy(there ? staging_.data() : data.data, there ? data.data : staging_.data(), data.bytes());
    } else if (there) {
      to_working_form(form_, data.dtype, data.data, staging_.data(), data.count);
    } else {
      from_working_form(form_, data.dtype, staging_.data(), data.data, data.count);
    }
  }

  void copy(void* to, const void* from, cudaMemcpyKind kind) {
    check_cuda(cudaMemcpyAsync(to, from, staging_.size(), kind, end_.stream), "cudaMemcpyAsync");
  }

  void run(void* memory) {
    const Request& request = operation_.request;
    const std::uint64_t count = operation_.data.count;
    const std::size_t element = size_of(form_.dtype);
    if (request.kind == OperationKind::kBroadcast) {
      broadcast(memory, count * element, request.member);
    } else if (request.kind == OperationKind::kAllGather) {
      check_nccl(ncclGroupStart(), "ncclGroupStart");
      for (std::uint32_t member = 0; member < end_.size; ++member) {
        const std::uint64_t begin = operation_.bounds[member] * element;
        const std::uint64_t bytes = operation_.bounds[member + 1] * element - begin;
        if (bytes > 0) broadcast(static_cast<std::byte*>(memory) + begin, bytes, member);
      }
      check_nccl(ncclGroupEnd(), "ncclGroupEnd");
    } else {
      check_nccl(ncclAllReduce(memory, memory, count, nccl_type(form_.dtype), nccl_op(form_.op), end_.communicator,
                               end_.stream),
                 "ncclAllReduce");
    }
  }

  void broadcast(void* memory, std::uint64_t bytes, std::uint32_t root) {
    check_nccl(ncclBroadcast(memory, memory, bytes, ncclUint8, static_cast<int>(root), end_.communicator, end_.stream),
               "ncclBroadcast");
  }

  const NcclEnd& end_;
  const Operation& operation_;
  const bool in_place_;
  bool started_ = false;
  WorkingForm form_{};
  Buffer staging_;  ///< The converted elements, in host memory.
  std::optional<DeviceMemory> device_;
  cudaEvent_t finished_ = nullptr;
};

class NcclTransport final : public Transport {
 public:
  NcclTransport(const CollectiveContext& context, std::uint32_t own) {
    end_.size = static_cast<std::uint32_t>(context.ranks.size());
    check_cuda(cudaGetDevice(&end_.device), "cudaGetDevice");
    check_own_devices(context);
    ncclUniqueId id{};
    if (own == 0) {
      check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
      context.rendezvous->put(context.name + "/nccl", std::string(id.internal, sizeof id.internal));
    }
    context.rendezvous->get(context.name + "/nccl", context.timeout).copy(id.internal, sizeof id.internal);
    check_cuda(cudaStreamCreateWithFlags(&end_.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check_nccl(ncclCommInitRank(&end_.communicator, static_cast<int>(end_.size), id, static_cast<int>(own)),
               "ncclCommInitRank");
  }
  ~NcclTransport() override {
    if (end_.communicator == nullptr) return;
    cudaSetDevice(end_.device);
    ncclCommDestroy(end_.communicator);
    cudaStreamDestroy(end_.stream);
  }

  std::unique_ptr<Transfer> begin(const Operation& operation) override {
    check_cuda(cudaSetDevice(end_.device), "cudaSetDevice");
    return std::make_unique<NcclTransfer>(end_, operation);
  }

  // Ends the kernels that wait for a rank that is gone.
  void abort(Transfer*) override {
    ncclCommAbort(end_.communicator);
    end_.communicator = nullptr;
    cudaStreamSynchronize(end_.stream);
  }

  bool must_be_polled() const override { return true; }

 private:
  /// Throws if two ranks use the same GPU, with which NCCL would wait for ever or report a misleading error.
  void check_own_devices(const CollectiveContext& context) const {
    char name[64] = "";
    check_cuda(cudaDeviceGetPCIBusId(name, sizeof name, end_.device), "cudaDeviceGetPCIBusId");
    const auto devices =
        core::exchange(*context.rendezvous, context.name + "/gpu", context.rank, context.ranks, name, context.timeout);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (devices[i] != devices[j]) continue;
        throw Error(Code::kUnsupported, "{}: rank {} and rank {} have the same GPU, {}; NCCL needs one for each",
                    context.where, context.ranks[j], context.ranks[i], name);
      }
    }
  }

  NcclEnd end_;
};

}  // namespace

bool Nccl::serves(OperationKind kind, MemorySpace space) const { return !space.is_device() || !is_message(kind); }

void Nccl::check() const {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    throw Error(Code::kUnsupported, "{}: there is no CUDA device; choose another collective", where());
  }
}

Backend Nccl::open() {
  Mesh* mesh = nullptr;
  Backend backend = over_mesh(context(), Sockets::kIpc, mesh);
  backend.transport = std::make_unique<NcclTransport>(context(), mesh->own());
  return backend;
}

}  // namespace trainyard::collectives

TRAINYARD_COLLECTIVE(trainyard::collectives::Nccl, "nccl", "by NCCL, between ranks with a GPU each")
