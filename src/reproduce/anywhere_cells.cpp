#include "reproduce/anywhere_cells.hpp"

#include "data/random.hpp"
#include "data/split.hpp"
#include "report/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>

namespace duplex::reproduce {

namespace in_anywhere_cells {
namespace {

data::NearestOther rows_of(const data::NearestOther &all, Index first, Index count) {
  const auto part = [&](const auto &values) {
    using Values = std::remove_cvref_t<decltype(values)>;
    return Values(values.begin() + first, values.begin() + first + count);
  };
  return {part(all.label), part(all.ratio)};
}

std::vector<Index> consecutive(Index first, Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

std::string sparse_line(const FeatureTable &features, Index row) {
  std::string line = "0";
  const SparseRow own = features.sparse_row(row);
  for (std::size_t entry = 0; entry < own.values.size(); ++entry) {
    fmt::format_to(std::back_inserter(line), " {}:{}", own.columns[entry] + 1, own.values[entry]);
  }
  return line + '\n';
}

std::string dense_line(const FeatureTable &features, Index row) {
  std::string line;
  for (Index j = 0; j < features.columns(); ++j) {
    fmt::format_to(std::back_inserter(line), "{}{}", j > 0 ? "," : "", features.value(row, j));
  }
  return line + '\n';
}

std::string header_of(Index columns) {
  std::string line;
  for (Index j = 0; j < columns; ++j) {
    fmt::format_to(std::back_inserter(line), "{}f{}", j > 0 ? "," : "", j);
  }
  return line + '\n';
}

} // namespace
} // namespace in_anywhere_cells

AnywherePool draw_pool(const std::string &name, const data::Dataset &table, Index most_rows, std::uint64_t seed) {
  const Index wanted = most_rows + *std::max_element(anywhere_trusted.begin(), anywhere_trusted.end());
  const std::array<Index, 1> size{std::min(table.features.rows(), wanted)};
  AnywherePool pool{name, seed, data::take_rows(table, data::split_rows(table, size, seed).front()), {}};
  pool.nearest = data::nearest_other_classes(pool.rows.features, pool.rows.labels, pool.rows.label_names.size());
  return pool;
}

bool has_cell(const AnywherePool &pool, Index trusted) { return 2 * trusted <= pool.rows.features.rows(); }

AnywhereCase make_case(const AnywherePool &pool, const AnywhereCell &cell, Index most_rows) {
  using namespace in_anywhere_cells;
  const Index count = std::min(most_rows, pool.rows.features.rows() - cell.trusted);
  AnywhereCase made{data::take_rows(pool.rows, consecutive(cell.trusted, count)),
                    data::take_rows(pool.rows, consecutive(0, cell.trusted)),
                    {},
                    {}};
  made.true_labels = made.training.labels;
  made.training.source = fmt::format("{}, {}", cell.table, anywhere_noise_titles[static_cast<std::size_t>(cell.noise)]);
  const std::size_t classes = pool.rows.label_names.size();
  const std::uint64_t seed = ~cell.seed; // draws of its own: the pool has used those of the seed
  const auto with = [&](data::NoiseKind kind, double fraction) {
    return data::add_noise(made.true_labels, classes, {.fraction = fraction, .kind = kind, .seed = seed}).labels;
  };
  switch (cell.noise) {
  case AnywhereNoise::uniform20:
    made.training.labels = with(data::NoiseKind::always_wrong, 0.2);
    break;
  case AnywhereNoise::uniform40:
    made.training.labels = with(data::NoiseKind::always_wrong, 0.4);
    break;
  case AnywhereNoise::pair:
    made.training.labels = with(data::NoiseKind::pair, 0.3);
    break;
  case AnywhereNoise::boundary:
    made.training.labels =
        data::add_noise_near_boundaries(made.true_labels, rows_of(pool.nearest, cell.trusted, count), 0.2).labels;
    break;
  case AnywhereNoise::source: {
    auto labelled = data::add_noise_by_source(made.true_labels, classes, {.seed = seed});
    made.training.labels = std::move(labelled.labels);
    made.sources = labelled.sources;
    made.training.sources = std::move(labelled.sources);
    for (std::size_t source = 0; source < data::SourceNoise{}.sources; ++source) {
      made.training.source_names.push_back(std::to_string(source));
    }
    break;
  }
  }
  return made;
}

std::vector<bool> AnywhereCase::wrong() const {
  std::vector<bool> differs(true_labels.size());
  for (std::size_t i = 0; i < differs.size(); ++i) {
    differs[i] = training.labels[i] != true_labels[i];
  }
  return differs;
}

void export_pool(const AnywherePool &pool, const std::filesystem::path &folder) {
  using namespace in_anywhere_cells;
  const FeatureTable &features = pool.rows.features;
  std::string text = features.is_sparse() ? std::string() : header_of(features.columns());
  for (Index row = 0; row < features.rows(); ++row) {
    text += features.is_sparse() ? sparse_line(features, row) : dense_line(features, row);
  }
  report::require_writable_folder(folder);
  report::replace_file(folder / fmt::format("{}-{}.{}", pool.table, pool.seed, features.is_sparse() ? "libsvm" : "csv"),
                       text);
}

void export_case(const AnywhereCell &cell, const AnywhereCase &made, const std::filesystem::path &folder) {
  std::string text = "row,trusted,given,true,source\n";
  for (std::size_t i = 0; i < made.trusted.labels.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},1,{},{},\n", i, made.trusted.labels[i], made.trusted.labels[i]);
  }
  for (std::size_t i = 0; i < made.true_labels.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},0,{},{},{}\n", i + made.trusted.labels.size(), made.training.labels[i],
                   made.true_labels[i], made.sources.empty() ? std::string() : std::to_string(made.sources[i]));
  }
  report::require_writable_folder(folder);
  report::replace_file(folder / fmt::format("{}-{}-{}-{}.csv", cell.table, cell.seed,
                                            anywhere_noise_names[static_cast<std::size_t>(cell.noise)], cell.trusted),
                       text);
}

} // namespace duplex::reproduce
