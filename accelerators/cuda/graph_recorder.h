// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <spdlog/logger.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensors/work_recorder.h"

namespace trainyard::cuda {

/// Records work as CUDA graphs, one for each combination of shapes and types of the inputs. The number of graphs is
/// limited, because each graph keeps memory; further combinations are computed without a graph.
class GraphRecorder final : public WorkRecorder {
 public:
  /// `where` is the prefix of log messages.
  GraphRecorder(std::string where, std::shared_ptr<spdlog::logger> log)
      : where_(std::move(where)), log_(std::move(log)) {}

  at::Tensor run(const std::vector<at::Tensor>& inputs, const Work& work) override;

  /// Returns the number of graphs that have been recorded.
  std::size_t graphs() const { return graphs_; }

 private:
  /// What is known about inputs of certain shapes and types.
  struct Entry {
    /// The number of calls without a graph so far. The first few calls are not recorded, because in these calls
    /// LibTorch chooses kernels and fills its memory pools.
    int calls = 0;
    std::unique_ptr<at::cuda::CUDAGraph> graph;
    std::vector<at::Tensor> inputs;  ///< The memory from which the graph reads.
    at::Tensor result;               ///< The memory to which the graph writes the result.
  };
  using Key = std::vector<std::int64_t>;

  void record(Entry& entry, const std::vector<at::Tensor>& inputs, const Work& work);
  void refuse(const std::string& reason);

  std::string where_;
  std::shared_ptr<spdlog::logger> log_;
  std::map<Key, Entry> entries_;
  std::size_t graphs_ = 0;
  bool refused_ = false;  ///< True once an attempt to record work has failed.
};

}  // namespace trainyard::cuda
