// SPDX-License-Identifier: Apache-2.0
// Compares LibTorch's operations on a test device with the same operations on the processor.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>

#include <cstring>

#include "core/testing/error_of.h"
#include "messages/error.h"
#include "tensors/version.h"
#include "tests/test_accelerator/card.h"
#include "tests/test_accelerator/window_call.h"

namespace trainyard::test_accelerator {
namespace {

using ::testing::HasSubstr;

const at::Device kCard(at::kPrivateUse1, 0);
const at::Device kSecond(at::kPrivateUse1, 1);

bool equal_bits(const at::Tensor& one, const at::Tensor& other) {
  const at::Tensor a = one.to(at::kCPU).contiguous(), b = other.to(at::kCPU).contiguous();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         (a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

std::string message_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

using Function = at::Tensor (*)(const std::vector<at::Tensor>&);

/// A function of several tensors, which have the shapes in `shapes`.
struct Case {
  const char* name;
  std::vector<std::vector<std::int64_t>> shapes;
  Function function;
};

at::Tensor classes(const at::Tensor& like, std::int64_t rows, std::int64_t count) {
  return at::arange(rows, like.options().dtype(at::kLong)).remainder(count);
}

/// The operations that models use, and some that LibTorch replaces by others on devices that it does not know.
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"Linear", {{6, 5}, {4, 5}, {4}}, [](const auto& t) { return at::linear(t[0], t[1], t[2]); }},
      {"Convolution",
       {{2, 3, 9, 8}, {4, 3, 3, 3}, {4}},
       [](const auto& t) { return at::conv2d(t[0], t[1], t[2], 1, 1); }},
      {"Pooling", {{2, 3, 8, 8}}, [](const auto& t) { return at::max_pool2d(t[0], 2); }},
      {"AveragePooling",
       {{2, 3, 7, 7}},
       [](const auto& t) {
         return at::adaptive_avg_pool2d(t[0], {1, 1});
       }},
      {"Gelu", {{5, 7}}, [](const auto& t) { return at::gelu(t[0]); }},
      {"Relu", {{5, 7}}, [](const auto& t) { return at::relu(t[0]); }},
      {"LayerNorm", {{6, 10}, {10}, {10}}, [](const auto& t) { return at::layer_norm(t[0], {10}, t[1], t[2]); }},
      {"GroupNorm", {{2, 4, 5, 5}, {4}, {4}}, [](const auto& t) { return at::group_norm(t[0], 2, t[1], t[2]); }},
      {"BatchNorm",
       {{4, 3, 5, 5}, {3}, {3}},
       [](const auto& t) {
         const at::Tensor mean = at::zeros({3}, t[0].options()), variance = at::ones({3}, t[0].options());
         const at::Tensor normed = at::batch_norm(t[0], t[1], t[2], mean, variance, true, 0.1, 1e-5, false);
         return normed + mean.view({1, 3, 1, 1}) * variance.view({1, 3, 1, 1});
       }},
      {"Softmax", {{3, 11}}, [](const auto& t) { return at::softmax(t[0], 1); }},
      {"CrossEntropy", {{8, 5}}, [](const auto& t) { return at::cross_entropy_loss(t[0], classes(t[0], 8, 5)); }},
      {"Embedding",
       {{9, 4}},
       [](const auto& t) {
         return at::embedding(t[0], classes(t[0], 12, 9).view({3, 4}));
       }},
      {"Attention",
       {{2, 3, 5, 4}, {2, 3, 5, 4}, {2, 3, 5, 4}},
       [](const auto& t) {
         const at::Tensor scores = at::matmul(t[0], t[1].transpose(-2, -1));
         const at::Tensor mask = at::full({5, 5}, -1e9, t[0].options()).triu_(1);
         return at::matmul(at::softmax(scores + mask, -1), t[2]).transpose(1, 2).reshape({10, 12});
       }},
      {"Dropout", {{40, 30}}, [](const auto& t) { return at::dropout(t[0], 0.3, true); }},
      {"SplitAndJoin",
       {{4, 9}},
       [](const auto& t) {
         const auto parts = at::split(t[0], 3, 1);
         return at::cat({parts[2], parts[0] * parts[1]}, 1);
       }},
      {"IndexWithANumberArray",
       {{6, 4}},
       [](const auto& t) { return t[0].index({classes(t[0], 9, 6)}) + t[0].index_select(0, classes(t[0], 9, 5)); }},
      {"WhereAndComparison", {{5, 5}, {5, 5}}, [](const auto& t) { return at::where(t[0] > t[1], t[0], t[1] * 2); }},
      {"SumsAndNorms", {{7, 33}}, [](const auto& t) { return t[0].sum(1) + t[0].mean() + t[0].norm(); }},
      {"SortAndCumulativeSum", {{4, 12}}, [](const auto& t) { return at::cumsum(std::get<0>(at::sort(t[0], 1)), 1); }},
      {"Unfold", {{3, 10}}, [](const auto& t) { return t[0].unfold(1, 4, 2) * 3; }},
      {"InPlaceOnAView",
       {{6, 6}},
       [](const auto& t) {
         const at::Tensor copy = t[0].clone();
         copy.narrow(0, 1, 3).t().mul_(2).add_(1);
         return copy;
       }},
  };
  return all;
}

/// From version 2 on, LibTorch has an operation of its own for dropout on a device like this one, which rounds 16-bit
/// numbers at another place than the operations on the processor.
bool rounds_differently(const Case& tested, at::ScalarType type) {
  return TRAINYARD_TORCH_AT_LEAST(2, 0) && std::string(tested.name) == "Dropout" && type == at::kBFloat16;
}

class OperationTest : public ::testing::TestWithParam<std::tuple<std::size_t, at::ScalarType>> {};

TEST_P(OperationTest, ItsResultAndItsGradientsHaveTheBitsOfTheProcessor) {
  const auto& [number, type] = GetParam();
  const Case& tested = cases()[number];
  const bool exact = !rounds_differently(tested, type);
  const auto equal = [exact](const at::Tensor& one, const at::Tensor& other) {
    return exact ? equal_bits(one, other) : one.to(at::kCPU).allclose(other, 0.02, 0.02);
  };
  at::manual_seed(5);
  std::vector<at::Tensor> here, there;
  for (const auto& shape : tested.shapes) {
    here.push_back(at::randn(shape).to(type));
    there.push_back(here.back().to(kCard).set_requires_grad(true));
    here.back().set_requires_grad(true);
  }
  const auto result = [&](const std::vector<at::Tensor>& tensors) {
    at::manual_seed(6);
    const at::Tensor output = tested.function(tensors);
    (output * output).sum().backward();
    return output.detach();
  };
  const at::Tensor expected = result(here);
  const at::Tensor computed = result(there);
  EXPECT_EQ(computed.device(), kCard);
  EXPECT_TRUE(equal(computed, expected)) << computed.to(at::kCPU) << expected;
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(there[i].grad().device(), kCard);
    EXPECT_TRUE(equal(there[i].grad(), here[i].grad())) << i << there[i].grad().to(at::kCPU) << here[i].grad();
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, OperationTest,
                         ::testing::Combine(::testing::Range(std::size_t{0}, cases().size()),
                                            ::testing::Values(at::kFloat, at::kDouble, at::kBFloat16)),
                         [](const auto& info) {
                           return std::string(cases()[std::get<0>(info.param)].name) +
                                  at::toString(std::get<1>(info.param));
                         });

TEST(TestDeviceTensorTest, TheProcessorCannotAccessItsMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const at::Tensor tensor = at::ones({8}).to(kCard);
  EXPECT_DEATH(*static_cast<volatile float*>(tensor.data_ptr()), "");
  EXPECT_DEATH(std::memset(tensor.data_ptr(), 0, 4), "");
  EXPECT_EQ(tensor.sum().item<float>(), 8);
}

TEST(TestDeviceTensorTest, CopiesKeepValuesThroughChangesOfTypeAndLayout) {
  const at::Tensor host = at::rand({3, 5});
  EXPECT_TRUE(equal_bits(host.to(kCard), host));
  EXPECT_TRUE(equal_bits(host.to(kCard).t().to(at::kDouble), host.t().to(at::kDouble)));
  EXPECT_TRUE(equal_bits(host.t().to(kCard).to(kSecond), host.t()));
  EXPECT_EQ(host.to(kCard)[1][2].item<float>(), host[1][2].item<float>());
  const at::Tensor wide = at::zeros({4, 3, 5}, host.options().device(kCard));
  wide.copy_(host);
  EXPECT_TRUE(equal_bits(wide, host.expand({4, 3, 5})));
}

TEST(TestDeviceTensorTest, AnOperationCanWriteToAGivenTensorAndMakeItLarger) {
  const at::Tensor one = at::rand({40, 50}), other = at::rand({40, 50});
  at::Tensor sum = at::empty({0}, one.options().device(kCard));
  at::Tensor alias = sum;
  at::add_out(sum, one.to(kCard), other.to(kCard));
  EXPECT_TRUE(equal_bits(alias, one + other));
  sum.resize_({3, 50});
  EXPECT_TRUE(equal_bits(sum, (one + other).narrow(0, 0, 3)));
  sum.resize_({200, 50});
  EXPECT_TRUE(equal_bits(sum.narrow(0, 0, 40), one + other));
}

TEST(TestDeviceTensorTest, ViewsShareTheMemoryOfTheirTensor) {
  const at::Tensor tensor = at::zeros({4, 6}, at::TensorOptions().device(kCard));
  const at::Tensor view = tensor.view({6, 4}).narrow(1, 1, 2);
  EXPECT_EQ(view.storage().data_ptr().get(), tensor.storage().data_ptr().get());
  view.fill_(3);
  tensor.unfold(1, 3, 3).select(1, 0).zero_();
  const at::Tensor expected = at::zeros({4, 6});
  expected.view({6, 4}).narrow(1, 1, 2).fill_(3);
  expected.unfold(1, 3, 3).select(1, 0).zero_();
  EXPECT_TRUE(equal_bits(tensor, expected));
}

TEST(TestDeviceTensorTest, AnArrayOnTheProcessorIsRefusedAndANumberIsNot) {
  const at::Tensor there = at::ones({3}).to(kCard);
  EXPECT_THAT(message_of([&] { there + at::ones({3}); }), HasSubstr("some on the processor and some on a test device"));
  EXPECT_THAT(message_of([&] { there + at::ones({3}).to(kSecond); }), HasSubstr("tensors on two test devices"));
  EXPECT_TRUE(equal_bits(there + at::scalar_tensor(2.0), at::full({3}, 3.0)));
  EXPECT_TRUE(equal_bits(there.index({at::arange(2)}), at::ones({2})));
}

TEST(TestDeviceTensorTest, AnOperationOnOneDeviceCopiesNothingOverTheLink) {
  const auto card = Card::of(0);
  const at::Tensor there = at::ones({100}).to(kCard);
  const devices::LinkCount before = card->device()->crossed();
  const at::Tensor sum = (there * 2 + there.to(at::kDouble)).sum();
  EXPECT_EQ(card->device()->crossed(), before);
  EXPECT_EQ(sum.item<double>(), 300);
  there.to(at::kCPU);
  at::zeros({10}).to(kCard);
  const devices::LinkCount after = card->device()->crossed();
  EXPECT_EQ(after.to_host - before.to_host, 8u + 400);
  EXPECT_EQ(after.to_device - before.to_device, 40u);
}

TEST(TestDeviceTensorTest, TheProcessorsGeneratorGivesTheSameNumbersOnBoth) {
  const auto draw = [](at::Device device) {
    at::manual_seed(3);
    const at::TensorOptions options = at::TensorOptions().device(device);
    return at::cat({at::rand({7}, options), at::randn({30}, options), at::empty({9}, options).bernoulli_(0.4),
                    at::randperm(6, options).to(at::kFloat)});
  };
  EXPECT_TRUE(equal_bits(draw(kCard), draw(at::kCPU)));
}

TEST(TestDeviceTensorTest, ATensorCanBeMadeOverABlockOfTheDevice) {
  const auto card = Card::of(0);
  const auto block = card->device()->allocate(400, "parameters");
  const at::Tensor flat = at::from_blob(
      block->address(), {100}, {1}, [block](void*) {}, at::TensorOptions().dtype(at::kFloat).device(kCard), kCard);
  flat.fill_(2).narrow(0, 10, 5).mul_(3);
  EXPECT_EQ(flat.sum().item<float>(), 200 + 20);
  EXPECT_EQ(*reinterpret_cast<float*>(card->device()->window(devices::Region(block, 40, 4))), 6);
}

TEST(CardTest, MemoryThatATensorHasFreedIsUsedAgain) {
  const auto card = Card::of(0);
  at::ones({1000}).to(kCard);
  const std::size_t used = card->device()->used_bytes();
  const std::size_t tensors = card->use().bytes;
  for (int i = 0; i < 20; ++i) at::ones({1000}).to(kCard);
  EXPECT_EQ(card->device()->used_bytes(), used);
  EXPECT_EQ(card->use().bytes, tensors);
}

TEST(CardTest, MoreTensorsThanFitAreRefusedAndWhatWasKeptIsFreedBefore) {
  const auto card = Card::with({.index = 2, .memory_bytes = 40 * 4096});
  const at::TensorOptions options = at::TensorOptions().dtype(at::kByte).device(at::Device(at::kPrivateUse1, 2));
  at::empty({30 * 4096}, options);  // Freed, but kept for the next tensor of this size.
  const at::Tensor other = at::empty({20 * 4096}, options);
  const auto [code, text] = testing::error_of([&] { at::empty({21 * 4096}, options); });
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, HasSubstr("no room for 86016 bytes of a tensor of LibTorch: 81920 of 163840 bytes are in use"));
}

TEST(CardTest, IsTheSameForAllWhoUseTheSameOptions) {
  const auto card = Card::with({.index = 3, .latency_us = 1});
  EXPECT_EQ(Card::with({.index = 3, .latency_us = 1}), card);
  EXPECT_EQ(Card::of(3), card);
  const auto [code, text] = testing::error_of([&] { Card::with({.index = 3}); });
  EXPECT_EQ(code, Code::kInvalidArgument);
  EXPECT_EQ(text, "test_device 3 is in use in this process with other options");
}

TEST(CardTest, ACopyTakesTheTimeOfTheLink) {
  const auto card = Card::with({.index = 4, .link_gb_per_s = 0.001});
  card->device()->take_done();
  const at::Tensor there = at::ones({1000}).to(at::Device(at::kPrivateUse1, 4));
  const std::vector<test_device::Done> done = card->device()->take_done();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_STREQ(done[0].what, "to device");
  EXPECT_EQ(done[0].link_bytes, 4000u);
  EXPECT_GE(done[0].end_ns - done[0].begin_ns, 4'000'000);
}

}  // namespace
}  // namespace trainyard::test_accelerator
