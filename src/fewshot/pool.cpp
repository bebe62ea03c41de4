#include "fewshot/pool.hpp"

#include "fewshot/tensor_entries.hpp"

#include <ATen/ATen.h>

namespace duplex::fewshot {

namespace {

at::Tensor samples_by_tasks(std::vector<std::int64_t> &numbers, std::int64_t tasks, const at::Device &device) {
  return at::from_blob(numbers.data(), {static_cast<std::int64_t>(numbers.size()) / tasks, tasks}, at::kLong)
      .to(device)
      .clone();
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
    : count_(count), shots_(samples_by_tasks(tasks.shots, count, heads[0].device())),
      queries_(samples_by_tasks(tasks.queries, count, heads[0].device())), heads_(for_tasks(heads, count)),
      multipliers_(for_tasks(heads, count)) {}

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

void TaskPool::save(SavedState &into) const {
  into.put("pool next", SavedState::Integers{next_});
  save_numbers(into, "pool shots", shots_);
  save_numbers(into, "pool queries", queries_);
  save_tensors(into, "pool heads", heads_);
  save_tensors(into, "pool multipliers", multipliers_);
}

void TaskPool::restore(const SavedState &from, std::int64_t images) {
  next_ = from.first<SavedState::Integers>("pool next");
  restore_numbers(from, "pool shots", shots_);
  restore_numbers(from, "pool queries", queries_);
  for (const auto &numbers : {shots_, queries_}) {
    if (next_ < 0 || next_ >= count_ || numbers.min().item<std::int64_t>() < 0 ||
        numbers.max().item<std::int64_t>() >= images) {
      throw InvalidInput("the pool of the saved state has tasks of images that there are not");
    }
  }
  restore_tensors(from, "pool heads", heads_);
  restore_tensors(from, "pool multipliers", multipliers_);
}

} // namespace duplex::fewshot
