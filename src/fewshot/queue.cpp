#include "fewshot/queue.hpp"

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
    : tasks_(std::move(tasks)), meta_batch_(meta_batch), device_(device) {}

void TaskQueue::fill() {
  filled_from_ = tasks_.position();
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

void TaskQueue::save(SavedState &into) const {
  into.put("tasks used", SavedState::Integers{shots_.defined() ? used_ : 0});
  into.put("tasks from", shots_.defined() ? filled_from_ : tasks_.position());
}

void TaskQueue::restore(const SavedState &from) {
  const auto used = from.first<SavedState::Integers>("tasks used");
  if (used < 0 || used > batches_ahead) {
    throw InvalidInput("'tasks used' of the saved state is " + std::to_string(used) + ", expected 0 to " +
                       std::to_string(batches_ahead));
  }
  tasks_.go_to(from.get<std::string>("tasks from"));
  shots_.reset();
  if (used > 0) {
    fill();
    used_ = used;
  }
}

} // namespace duplex::fewshot
