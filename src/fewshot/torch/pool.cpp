#include "fewshot/torch/pool.hpp"

#include <duplex/core/error.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace duplex::fewshot {

namespace {

at::Tensor samples_by_tasks(std::vector<std::int64_t> &numbers, std::int64_t tasks, const at::Device &device) {
  const auto samples = static_cast<std::int64_t>(numbers.size()) / tasks;
  return at::from_blob(numbers.data(), {samples, tasks}, at::kLong).to(device, at::kLong, false, true);
}

Tensors for_tasks(const Tensors &batch, std::int64_t tasks) {
  std::vector<at::Tensor> made;
  for (const auto &tensor : batch) {
    auto shape = tensor.sizes().vec();
    shape.front() = tasks;
    made.push_back(at::zeros(shape, tensor.options()));
  }
  return Tensors(std::move(made));
}

void copy_rows(const Tensors &from, const at::Tensor &rows, Tensors &to) {
  for (std::size_t i = 0; i < from.count(); ++i) {
    at::Tensor destination = to[i];
    at::index_select_out(destination, from[i], 0, rows);
  }
}

void put_rows(const Tensors &from, const at::Tensor &rows, Tensors &to) {
  for (std::size_t i = 0; i < from.count(); ++i) {
    at::Tensor destination = to[i];
    destination.index_copy_(0, rows, from[i]);
  }
}

} // namespace

TaskPool::TaskPool(TaskBatch tasks, std::int64_t count, const Tensors &heads)
    : tasks_(std::move(tasks)), count_(count), heads_(for_tasks(heads, count)), multipliers_(for_tasks(heads, count)) {
  place_numbers();
}

void TaskPool::place_numbers() {
  shots_ = samples_by_tasks(tasks_.shots, count_, heads_[0].device());
  queries_ = samples_by_tasks(tasks_.queries, count_, heads_[0].device());
}

void TaskPool::lend(const at::Tensor &shots, const at::Tensor &queries, Tensors &heads, Tensors &multipliers) {
  const auto batch = heads[0].size(0);
  visited_ = at::arange(next_, next_ + batch, shots.options()).remainder_(count_);
  next_ = (next_ + batch) % count_;
  const auto copy = [&](const at::Tensor &from, const at::Tensor &to) {
    to.copy_(from.index_select(1, visited_).flatten());
  };
  copy(shots_, shots);
  copy(queries_, queries);
  copy_rows(heads_, visited_, heads);
  copy_rows(multipliers_, visited_, multipliers);
}

void TaskPool::take_back(const Tensors &heads, const Tensors &multipliers) {
  put_rows(heads, visited_, heads_);
  put_rows(multipliers, visited_, multipliers_);
}

void TaskPool::go_on(std::int64_t images) {
  const auto are_images = [&](const std::vector<std::int64_t> &numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t i) { return i >= 0 && i < images; });
  };
  if (next_ < 0 || next_ >= count_ || !are_images(tasks_.shots) || !are_images(tasks_.queries)) {
    throw InvalidInput("the pool of the saved state has tasks of images that there are not");
  }
  place_numbers();
}

} // namespace duplex::fewshot
