#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/error.h"
#include "messages/run_state.h"

namespace trainyard::testing {

/// A fresh directory that goes away with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "trainyard-checkpoint-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

/// One byte of a file becomes another, its length stays.
inline void flip_byte(const std::string& path, std::size_t from_end) {
  std::string bytes = read_file(path);
  bytes[bytes.size() - from_end] ^= 1;
  write_file(path, bytes);
}

/// The message of the Error that `action` throws; empty if it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A one-dimensional tensor of these numbers.
inline Tensor floats(const std::vector<float>& values) {
  Tensor tensor = Tensor::empty(DType::kFloat32, {static_cast<std::int64_t>(values.size())});
  std::memcpy(tensor.data(), values.data(), tensor.bytes());
  return tensor;
}

/// An arena of two parameters (2 x 3 at byte 0, 2 at byte 64), gradients, and one buffer of int64.
inline ArenaInfo small_arena(float first = 1) {
  std::vector<float> parameters(32, 0);
  for (int i = 0; i < 6; ++i) parameters[static_cast<std::size_t>(i)] = first + static_cast<float>(i);
  parameters[16] = 10 * first;
  parameters[17] = 20 * first;
  Tensor buffers = Tensor::empty(DType::kInt64, {1});
  buffers.as<std::int64_t>()[0] = 7;
  return {.model = "mlp",
          .blocks = {{"gradients", floats(std::vector<float>(32, 9))},
                     {"parameters", floats(parameters)},
                     {"buffers", buffers}},
          .entries = {{.name = "weight", .block = "parameters", .shape = {2, 3}, .offset_bytes = 0},
                      {.name = "bias", .block = "parameters", .shape = {2}, .offset_bytes = 64},
                      {.name = "steps", .block = "buffers", .dtype = 4, .shape = {}, .offset_bytes = 0}}};
}

/// One block with the parameters' layout and one without, as a step counter would be.
inline OptimizerState small_state(float value = 0.5f) {
  return {.rule = "adamw",
          .blocks = {{"exp_avg", floats(std::vector<float>(32, value))}, {"counter", floats({3})}},
          .hyperparameters = {{"beta1", 0.9}}};
}

/// Every field set, and different for every step, so that a test notices one that is lost.
inline Snapshot snapshot_at(std::uint64_t step, double loss = 1) {
  return {.order = step + 100,
          .step = step,
          .epoch = 2,
          .samples = step * 12,
          .reason = "interval",
          .cursor = {.epoch = 2, .batch = 5},
          .rng = {1, 2, 255},
          .metrics = {{"loss", loss}}};
}

}  // namespace trainyard::testing
