#include "fewshot/torch/queue.hpp"

#include <duplex/core/error.hpp>

#include <ATen/ATen.h>

#include <utility>

namespace duplex::fewshot {

namespace {

constexpr std::int64_t batches_ahead = 50;

at::Tensor rows_of_batches(std::vector<std::int64_t> &numbers, const at::Device &device) {
  const auto columns = static_cast<std::int64_t>(numbers.size()) / batches_ahead;
  return at::from_blob(numbers.data(), {batches_ahead, columns}, at::kLong).to(device, at::kLong, false, true);
}

} // namespace

TaskQueue::TaskQueue(TaskSampler tasks, std::int64_t meta_batch, const at::Device &device)
    : tasks_(std::move(tasks)), meta_batch_(meta_batch), device_(device), filled_from_(tasks_) {}

void TaskQueue::fill() {
  filled_from_ = tasks_;
  used_ = 0;
  TaskBatch all;
  for (std::int64_t k = 0; k < batches_ahead; ++k) {
    const auto batch = tasks_.draw(meta_batch_);
    all.shots.insert(all.shots.end(), batch.shots.begin(), batch.shots.end());
    all.queries.insert(all.queries.end(), batch.queries.begin(), batch.queries.end());
  }
  shots_ = rows_of_batches(all.shots, device_);
  queries_ = rows_of_batches(all.queries, device_);
}

void TaskQueue::next(const at::Tensor &shots, const at::Tensor &queries) {
  if (!shots_.defined() || used_ == batches_ahead) {
    fill();
  }
  shots.copy_(shots_[used_]);
  queries.copy_(queries_[used_]);
  ++used_;
}

TaskBatch TaskQueue::draw(std::int64_t tasks) {
  auto batch = tasks_.draw(tasks);
  filled_from_ = tasks_;
  return batch;
}

void TaskQueue::go_on() {
  if (used_ < 0 || used_ > batches_ahead) {
    throw InvalidInput("the queue of tasks in the saved state has used " + std::to_string(used_) + " of " +
                       std::to_string(batches_ahead) + " batches");
  }
  tasks_ = filled_from_;
  shots_.reset();
  if (used_ > 0) {
    const auto used = used_;
    fill();
    used_ = used;
  }
}

} // namespace duplex::fewshot
