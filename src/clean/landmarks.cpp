#include "clean/landmarks.hpp"

#include "softmax/blocks.hpp"

#include <duplex/core/random.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace duplex::clean {

namespace {

using kernels::block_rows;

/// Rows times rows, out[c][i] = ⟨table_i, with_c⟩, for a block of the table at a time.
class Products {
public:
  Products(const FeatureTable &table, const FeatureTable &with)
      : rows_(table, static_cast<std::size_t>(with.rows() + 1)), panel_(rows_.shape()) {
    Vector y = Vector::Zero((with.rows() + 1) * (with.columns() + 1)); // relative to the last, which is zero
    for (Index c = 0; c < with.rows(); ++c) {
      for (Index j = 0; j < with.columns(); ++j) {
        y[c * (with.columns() + 1) + j] = with.value(c, j);
      }
    }
    panel_.fold(rows_, y);
  }

  [[nodiscard]] const softmax::Shape &shape() const { return rows_.shape(); }
  [[nodiscard]] float bias(std::size_t output) const { return panel_.bias[output]; }
  void of_block(std::size_t block, float *scratch, float *out) const {
    softmax::multiply(rows_, block, rows_.load(block, scratch), panel_, out);
  }

private:
  softmax::RowBlocks<float> rows_;
  softmax::Panel<float> panel_;
};

/// A block at a time on any thread: job(block, scratch, values), values being outputs × block_rows.
template <class Job> void over_blocks(const Products &products, int threads, const Job &job) {
  const std::size_t blocks = products.shape().blocks();
  const int wanted = threads > 0 ? threads : omp_get_max_threads();
  const int used = std::clamp(wanted, 1, static_cast<int>(std::min<std::size_t>(blocks, 64)));
  auto &team = kernels::team_of(used);
  const auto workers = static_cast<std::size_t>(std::min(used, team.threads()));
  std::vector<softmax::Aligned<float>> scratches; // allocated here: nothing may be thrown in a team
  std::vector<softmax::Aligned<float>> all_values;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    scratches.emplace_back(block_rows * products.shape().width());
    all_values.emplace_back(block_rows * products.shape().outputs());
  }
  team.run([&](int thread) {
    const auto first = static_cast<std::size_t>(thread);
    if (first >= workers) {
      return;
    }
    auto &scratch = scratches[first];
    auto &values = all_values[first];
    for (std::size_t block = first; block < blocks; block += workers) {
      products.of_block(block, scratch.data(), values.data());
      job(block, values.data());
    }
  });
}

/// Rows that are filled in place, block by block.
FeatureTable empty_table(Index rows, Index columns, float *&values) {
  FeatureTable out(Storage::float32, columns);
  values = reinterpret_cast<float *>(out.append_rows(rows));
  return out;
}

FeatureTable kernel_of(const FeatureTable &table, const FeatureTable &landmarks, double scale, int threads) {
  const Products products(table, landmarks);
  std::vector<double> lengths(static_cast<std::size_t>(landmarks.rows()));
  for (Index c = 0; c < landmarks.rows(); ++c) {
    lengths[static_cast<std::size_t>(c)] = landmarks.squared_length(c);
  }
  float *out = nullptr;
  FeatureTable result = empty_table(table.rows(), landmarks.rows(), out);
  const auto columns = static_cast<std::size_t>(landmarks.rows());
  over_blocks(products, threads, [&](std::size_t block, const float *dots) {
    const std::size_t count = products.shape().rows_in(block);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t row = block * block_rows + i;
      const double length = table.squared_length(static_cast<Index>(row));
      Eigen::Map<Eigen::ArrayXf> values(out + row * columns, static_cast<Index>(columns));
      for (std::size_t c = 0; c < columns; ++c) {
        const double dot = static_cast<double>(dots[c * block_rows + i]) + static_cast<double>(products.bias(c));
        const double distance = std::max(length + lengths[c] - 2.0 * dot, 0.0);
        values[static_cast<Index>(c)] = static_cast<float>(-distance / scale);
      }
      values = values.exp();
    }
  });
  return result;
}

/// The factor of the rows that are kept, and which they are.
struct Factor {
  std::vector<Index> kept;
  Eigen::MatrixXd lower;
};

/// Cholesky with pivots, of a matrix whose diagonal is one, until nothing of it is left above the tolerance.
Factor pivoted_cholesky(const FeatureTable &matrix) {
  constexpr double tolerance = 1e-3;
  const Index n = matrix.rows();
  Eigen::VectorXd left = Eigen::VectorXd::Ones(n);
  Eigen::MatrixXd columns(n, n);
  Factor factor;
  for (Index step = 0; step < n; ++step) {
    Index pivot = 0;
    const double largest = left.maxCoeff(&pivot);
    if (!(largest > tolerance)) {
      break;
    }
    const double root = std::sqrt(largest);
    auto column = columns.col(step);
    for (Index i = 0; i < n; ++i) {
      column[i] = static_cast<double>(matrix.stored(i, pivot));
    }
    column.noalias() -= columns.leftCols(step) * columns.row(pivot).head(step).transpose();
    column /= root;
    for (const Index done : factor.kept) {
      column[done] = 0.0;
    }
    column[pivot] = root;
    left -= column.cwiseAbs2();
    factor.kept.push_back(pivot);
    for (const Index done : factor.kept) {
      left[done] = 0.0;
    }
  }
  const auto padding = static_cast<Index>(kernels::padding);
  auto rank = static_cast<Index>(factor.kept.size());
  rank -= rank > padding ? rank % padding : 0; // so wide, kernels read rows where they are; the last tell least
  factor.kept.resize(static_cast<std::size_t>(rank));
  factor.lower.resize(rank, rank);
  for (Index i = 0; i < rank; ++i) {
    factor.lower.row(i) = columns.row(factor.kept[static_cast<std::size_t>(i)]).head(rank);
  }
  return factor;
}

} // namespace

double median_squared_distance(const FeatureTable &table) {
  constexpr int pairs = 2000;
  std::mt19937_64 generator(17); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same pairs for the same data
  std::vector<double> distances;
  const auto rows = static_cast<std::uint64_t>(table.rows());
  for (int i = 0; i < pairs && rows > 1; ++i) {
    const auto a = static_cast<Index>(uniform_below(generator, rows));
    const auto b = static_cast<Index>(uniform_below(generator, rows));
    double sum = 0.0;
    for (Index j = 0; j < table.columns() && a != b; ++j) {
      const double off = static_cast<double>(table.value(a, j)) - static_cast<double>(table.value(b, j));
      sum += off * off;
    }
    if (a != b) {
      distances.push_back(sum);
    }
  }
  if (distances.empty()) {
    return 0.0;
  }
  const auto median = [&] {
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    return *middle;
  };
  if (const double of_all = median(); of_all > 0.0) {
    return of_all;
  }
  std::erase(distances, 0.0); // most rows are the same
  return distances.empty() ? 0.0 : median();
}

Landmarks choose_landmarks(const FeatureTable &table, std::span<const Index> offered, double scale, int threads) {
  const FeatureTable rows = table.gather(offered);
  const Factor factor = pivoted_cholesky(kernel_of(rows, rows, scale, threads));
  const auto rank = static_cast<Index>(factor.kept.size());
  Landmarks landmarks{.rows = std::make_shared<const FeatureTable>(rows.gather(factor.kept)), .scale = scale};
  const Eigen::MatrixXd inverse =
      factor.lower.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(rank, rank));
  landmarks.whitening = inverse.cast<float>();
  landmarks.mean = Vector::Zero(rank);
  const FeatureTable features = kernel_features(landmarks, rows, threads);
  for (Index j = 0; j < rank; ++j) {
    double sum = 0.0;
    for (Index i = 0; i < features.rows(); ++i) {
      sum += static_cast<double>(features.stored(i, j));
    }
    landmarks.mean[j] = static_cast<float>(sum / static_cast<double>(features.rows()));
  }
  return landmarks;
}

FeatureTable kernel_values(const Landmarks &landmarks, const FeatureTable &table, int threads) {
  return kernel_of(table, *landmarks.rows, landmarks.scale, threads);
}

FeatureTable kernel_features(const Landmarks &landmarks, const FeatureTable &table, int threads) {
  const FeatureTable values = kernel_values(landmarks, table, threads);
  const Index rank = landmarks.count();
  FeatureTable whitening(Storage::float32, rank);
  whitening.append(
      std::span<const float>(landmarks.whitening.data(), static_cast<std::size_t>(landmarks.whitening.size())));
  const Products products(values, whitening);
  float *out = nullptr;
  FeatureTable result = empty_table(table.rows(), rank, out);
  const auto columns = static_cast<std::size_t>(rank);
  over_blocks(products, threads, [&](std::size_t block, const float *dots) {
    const std::size_t count = products.shape().rows_in(block);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < columns; ++c) {
        out[(block * block_rows + i) * columns + c] = dots[c * block_rows + i] - landmarks.mean[static_cast<Index>(c)];
      }
    }
  });
  return result;
}

Vector on_kernel_values(const Landmarks &landmarks, const Vector &model, Index classes) {
  const Index rank = landmarks.count();
  const Eigen::Map<const Matrix> own(model.data(), classes, rank + 1);
  const Eigen::MatrixXd weights = own.leftCols(rank).cast<double>();
  Matrix out(classes, rank + 1);
  out.leftCols(rank) = (weights * landmarks.whitening.cast<double>()).cast<float>();
  out.col(rank) = (own.col(rank).cast<double>() - weights * landmarks.mean.cast<double>()).cast<float>();
  return Eigen::Map<const Vector>(out.data(), out.size());
}

} // namespace duplex::clean
