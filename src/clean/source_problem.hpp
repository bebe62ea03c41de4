#pragma once
// The bilevel problem of source_weights.hpp.

#include "clean/source_weights.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

namespace duplex::clean {

class SourceWeighting {
public:
  using Vector = Eigen::VectorXf;

  /// Throws InvalidInput where samples and sources do not fit each other.
  SourceWeighting(HyperCleaning<float> rows, SourcesOfRows sources);

  class Lower {
  public:
    explicit Lower(const SourceWeighting &problem);
    void at(const Vector &x, const Vector &y);
    void at(Vector &&, const Vector &) = delete;
    [[nodiscard]] double value() { return rows_.value(); }
    void grad_y(Vector &out) { rows_.grad_y(out); }
    void hess_yy(const Vector &v, Vector &out) { rows_.hess_yy(v, out); }
    void cross_xy(const Vector &v, Vector &out);

  private:
    HyperCleaning<float>::Lower rows_;
    const SourcesOfRows *sources_;
    Vector of_rows_; ///< x of each row's source
    Vector slopes_;
  };

  class Upper {
  public:
    explicit Upper(const SourceWeighting &problem) : rows_(problem.rows_.upper()), x_size_(problem.x_size()) {}
    void at(const Vector &x, const Vector &y) { rows_.at(x, y); }
    [[nodiscard]] double value() { return rows_.value(); }
    void grad_x(Vector &out) const { out.setZero(x_size_); }
    void grad_y(Vector &out) { rows_.grad_y(out); }
    void hess_yy(const Vector &v, Vector &out) { rows_.hess_yy(v, out); }
    void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(x_size_); }

  private:
    HyperCleaning<float>::Upper rows_;
    Index x_size_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Index x_size() const { return sources_->count; }
  [[nodiscard]] Index y_size() const { return rows_.y_size(); }
  [[nodiscard]] static double upper_scale() { return 1.0; }
  [[nodiscard]] State<Vector> start() const;
  [[nodiscard]] const HyperCleaning<float> &rows() const { return rows_; }

private:
  HyperCleaning<float> rows_;
  std::shared_ptr<const SourcesOfRows> sources_; ///< copies of a problem share it
};

} // namespace duplex::clean
