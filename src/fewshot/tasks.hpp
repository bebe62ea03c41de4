#pragma once
// N-way M-shot tasks: N classes, M shots and Q queries of each, drawn without repetition.

#include <cstdint>
#include <random>
#include <vector>

namespace duplex::fewshot {

struct TaskShape {
  std::int64_t ways = 5;
  std::int64_t shots = 1;
  std::int64_t queries = 15;

  [[nodiscard]] std::int64_t shot_samples() const { return ways * shots; }
  [[nodiscard]] std::int64_t query_samples() const { return ways * queries; }
};

/// Numbers of images, a task's k-th sample at k · tasks + task; sample k is of way k mod ways.
struct TaskBatch {
  std::vector<std::int64_t> shots;
  std::vector<std::int64_t> queries;
};

class TaskSampler {
public:
  /// Throws InvalidInput where there are too few classes or images.
  TaskSampler(TaskShape shape, std::vector<int> classes, std::int64_t images_per_class, std::uint64_t seed);

  [[nodiscard]] TaskBatch draw(std::int64_t tasks);

  /// Where the generator stands.
  template <class Archive> void archive(Archive &members) { members("generator", generator_); }

private:
  TaskShape shape_;
  std::vector<int> classes_;
  std::int64_t images_per_class_;
  std::mt19937_64 generator_;
};

} // namespace duplex::fewshot
