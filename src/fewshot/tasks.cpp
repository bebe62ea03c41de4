#include "fewshot/tasks.hpp"

#include "data/random.hpp"

#include <duplex/core/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace duplex::fewshot {

TaskSampler::TaskSampler(TaskShape shape, std::vector<int> classes, std::int64_t images_per_class, std::uint64_t seed)
    : shape_(shape), classes_(std::move(classes)), images_per_class_(images_per_class), generator_(seed) {
  const auto require = [](const std::string &name, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most) {
      throw InvalidInput("tasks: " + name + " = " + std::to_string(value) + ", expected " + std::to_string(least) +
                         " to " + std::to_string(most));
    }
  };
  require("ways", shape_.ways, 2, static_cast<std::int64_t>(classes_.size()));
  require("shots", shape_.shots, 1, images_per_class_ - 1);
  require("queries", shape_.queries, 1, images_per_class_ - shape_.shots);
}

TaskBatch TaskSampler::draw(std::int64_t tasks) {
  const std::int64_t each = shape_.shots + shape_.queries;
  TaskBatch batch;
  batch.shots.resize(static_cast<std::size_t>(tasks * shape_.shot_samples()));
  batch.queries.resize(static_cast<std::size_t>(tasks * shape_.query_samples()));
  std::vector<std::int64_t> images;
  for (std::int64_t task = 0; task < tasks; ++task) {
    const auto chosen =
        data::draw_without_repetition(generator_, classes_.size(), static_cast<std::size_t>(shape_.ways));
    for (std::int64_t way = 0; way < shape_.ways; ++way) {
      const std::int64_t first = classes_[chosen[static_cast<std::size_t>(way)]] * images_per_class_;
      images.clear();
      while (static_cast<std::int64_t>(images.size()) < each) {
        const auto image = first + static_cast<std::int64_t>(
                                       data::uniform_below(generator_, static_cast<std::uint64_t>(images_per_class_)));
        if (std::find(images.begin(), images.end(), image) == images.end()) {
          images.push_back(image);
        }
      }
      for (std::int64_t i = 0; i < each; ++i) {
        const bool is_shot = i < shape_.shots;
        const std::int64_t sample = (is_shot ? i : i - shape_.shots) * shape_.ways + way;
        auto &into = is_shot ? batch.shots : batch.queries;
        into[static_cast<std::size_t>(sample * tasks + task)] = images[static_cast<std::size_t>(i)];
      }
    }
  }
  return batch;
}

} // namespace duplex::fewshot
