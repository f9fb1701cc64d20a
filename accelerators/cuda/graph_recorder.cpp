// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/graph_recorder.h"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <exception>

namespace trainyard::cuda {
namespace {

constexpr int kCallsBeforeRecording = 3;
constexpr std::size_t kMostGraphs = 8;  ///< Every graph keeps the memory of its intermediate values.

std::vector<std::int64_t> shapes_of(const std::vector<at::Tensor>& inputs) {
  std::vector<std::int64_t> key;
  for (const at::Tensor& input : inputs) {
    key.push_back(static_cast<std::int64_t>(input.scalar_type()));
    key.push_back(input.dim());
    key.insert(key.end(), input.sizes().begin(), input.sizes().end());
  }
  return key;
}

/// LibTorch's messages have several lines, of which the first says what is wrong.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Ends a recording that failed, so that the stream can be used again.
void give_up(at::cuda::CUDAGraph& graph) {
  try {
    graph.capture_end();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it says again why the recording failed.
  }
  cudaGetLastError();  // Clears the error, so that no later call reports it.
}

}  // namespace

at::Tensor GraphRecorder::run(const std::vector<at::Tensor>& inputs, const Work& work) {
  if (refused_) return work(inputs);
  Entry& entry = entries_[shapes_of(inputs)];
  if (!entry.graph) {
    if (entry.calls++ < kCallsBeforeRecording || graphs_ >= kMostGraphs) return work(inputs);
    record(entry, inputs, work);
    if (refused_) return work(inputs);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) entry.inputs[i].copy_(inputs[i], /*non_blocking=*/true);
  entry.graph->replay();
  return entry.result;
}

/// Recording submits nothing, so the gradients are unchanged afterwards, whether it succeeds or not.
void GraphRecorder::record(Entry& entry, const std::vector<at::Tensor>& inputs, const Work& work) {
  for (const at::Tensor& input : inputs) entry.inputs.push_back(input.clone());
  c10::cuda::device_synchronize();
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  bool begun = false;
  try {
    graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    begun = true;
    entry.result = work(entry.inputs);
    begun = false;
    graph->capture_end();
  } catch (const std::exception& error) {
    if (begun) give_up(*graph);
    entry = {};
    return refuse(first_line(error.what()));
  }
  entry.graph = std::move(graph);
  ++graphs_;
}

void GraphRecorder::refuse(const std::string& reason) {
  refused_ = true;
  log_->warn("{}: cuda_graphs: a step of this model cannot be recorded, so its operations are submitted one by one: {}",
             where_, reason);
}

}  // namespace trainyard::cuda
