#include "reproduce/anywhere_tables.hpp"

#include "zoo/draws.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <numbers>
#include <vector>

namespace duplex::reproduce {

namespace in_anywhere_tables {
namespace {

using zoo::Draws;

data::Dataset empty_table(std::string_view name, Index columns, std::size_t classes) {
  data::Dataset table;
  table.source = name;
  table.features = FeatureTable(Storage::float32, columns);
  for (std::size_t k = 0; k < classes; ++k) {
    table.label_names.push_back(std::to_string(k));
  }
  return table;
}

void add_row(data::Dataset &table, const Eigen::VectorXd &row, std::size_t label) {
  const Eigen::VectorXf values = row.cast<float>();
  table.features.append(std::span<const float>(values.data(), static_cast<std::size_t>(values.size())));
  table.labels.push_back(static_cast<std::uint32_t>(label));
}

Eigen::VectorXd point_on_circle(double radius, double angle) {
  return Eigen::Vector2d(radius * std::cos(angle), radius * std::sin(angle));
}

/// Two half circles that reach into one another, with normal noise of standard deviation .2.
data::Dataset moons() {
  constexpr int rows = 2000;
  Draws draws(1);
  auto table = empty_table("moons", 2, 2);
  for (int i = 0; i < rows; ++i) {
    const Eigen::Vector2d upper = point_on_circle(1.0, std::numbers::pi * draws.uniform());
    const Eigen::Vector2d lower(1.0 - upper[0], 0.5 - upper[1]);
    add_row(table, (i % 2 == 0 ? upper : lower) + 0.2 * draws.normals(2), static_cast<std::size_t>(i % 2));
  }
  return table;
}

/// Circles of radius 1 and ½ around one centre, with normal noise of standard deviation .1.
data::Dataset circles() {
  constexpr int rows = 2000;
  Draws draws(2);
  auto table = empty_table("circles", 2, 2);
  for (int i = 0; i < rows; ++i) {
    const double radius = i % 2 == 0 ? 1.0 : 0.5;
    add_row(table, point_on_circle(radius, 2.0 * std::numbers::pi * draws.uniform()) + 0.1 * draws.normals(2),
            static_cast<std::size_t>(i % 2));
  }
  return table;
}

/// Normal clouds of unit variance around centres that are normal with the given spread; cloud c is of class c mod
/// classes.
data::Dataset clouds(std::string_view name, int rows, int clouds, std::size_t classes, double spread,
                     std::uint64_t seed) {
  constexpr Index columns = 10;
  Draws draws(seed);
  auto table = empty_table(name, columns, classes);
  const Eigen::MatrixXd centres = spread * draws.normals(columns, clouds);
  for (int i = 0; i < rows; ++i) {
    const int cloud = i % clouds;
    add_row(table, centres.col(cloud) + draws.normals(columns), static_cast<std::size_t>(cloud) % classes);
  }
  return table;
}

std::filesystem::path usual_folder_of_tables() {
  const char *data = std::getenv("DUPLEX_DATA"); // NOLINT(concurrency-mt-unsafe): read before any thread starts
  return std::filesystem::path(data != nullptr ? data : "data") / "tables";
}

} // namespace
} // namespace in_anywhere_tables

data::Dataset anywhere_table(std::string_view name, const std::filesystem::path &folder,
                             const data::ReadOptions &reading) {
  using namespace in_anywhere_tables;
  if (name == "moons") {
    return moons();
  }
  if (name == "circles") {
    return circles();
  }
  if (name == "clusters") {
    return clouds(name, 3000, 12, 4, 1.5, 3); // three clusters a class
  }
  if (name == "gauss20") {
    return clouds(name, 4000, 20, 20, 1.2, 4);
  }
  const auto place = folder.empty() ? usual_folder_of_tables() : folder;
  const auto file = place / (std::string(name) + (is_text(name) ? ".libsvm" : ".csv"));
  if (!std::filesystem::exists(file)) {
    throw InvalidInput(fmt::format(
        "{}: is not there; run scripts/tables.sh, or name the folder that holds it by --data-dir", file.string()));
  }
  return data::read_dataset(file, reading);
}

} // namespace duplex::reproduce
