#pragma once
// Logistic regression with a penalty for each feature, tuned on held-out rows, for tables with many rows and few
// columns. x holds logarithms of penalties within ±limit, y the weights, t_i = ±1:
//
//   f = (1/N) Σ_i log(1 + e^{−t_i a_i·y}) + ½ Σ_j e^{x_j} y_j²,   F = (1/M) Σ_i log(1 + e^{−t_i b_i·y})
//
// It is what Penalized (penalized.hpp) is for LogisticLoss and groups of one, for double alone and large tables: rows
// are passed over in blocks that stay in the cache, by several threads; sums are in the order of the blocks, so that
// they are the same for any number of threads.

#include <duplex/problem/problem.hpp>

#include <memory>

namespace duplex::zoo {

/// Samples as columns, with their signs.
struct SignedRows {
  Eigen::MatrixXd samples;
  Eigen::VectorXd signs;

  [[nodiscard]] Index count() const { return samples.cols(); }
};

class PenalizedLogistic {
public:
  using Vector = Eigen::VectorXd;

  /// The mean loss over some rows, with its first and second derivatives in y.
  class MeanLoss {
  public:
    explicit MeanLoss(const SignedRows &rows);
    void at(const Vector &y);
    [[nodiscard]] double value();
    [[nodiscard]] const Vector &gradient();
    /// out += ∇² v
    void add_product(const Vector &v, Vector &out);
    [[nodiscard]] const Vector &curvatures(); ///< σ'/N of each row

  private:
    void pass();

    const SignedRows *rows_;
    Vector y_;
    bool passed_ = false;
    double value_ = 0.0;
    Vector gradient_;
    Vector curvatures_;
    Eigen::MatrixXd sums_; ///< a column for each share of the rows
    Vector values_;
  };

  class Lower {
  public:
    explicit Lower(const SignedRows &rows) : loss_(rows) {}
    void at(const Vector &x, const Vector &y);
    [[nodiscard]] double value();
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);

  private:
    MeanLoss loss_;
    Vector penalties_;
    Vector y_;
  };

  class Upper {
  public:
    explicit Upper(const SignedRows &rows) : loss_(rows) {}
    void at(const Vector & /*x*/, const Vector &y) { loss_.at(y); }
    [[nodiscard]] double value() { return loss_.value(); }
    void grad_x(Vector &out) { out.setZero(out.size()); }
    void grad_y(Vector &out) { out = loss_.gradient(); }

  private:
    MeanLoss loss_;
  };

  PenalizedLogistic(SignedRows training, SignedRows held_out, double limit);

  [[nodiscard]] Lower lower() const { return Lower(data_->training); }
  [[nodiscard]] Upper upper() const { return Upper(data_->held_out); }
  [[nodiscard]] Index x_size() const { return data_->training.samples.rows(); }
  [[nodiscard]] Index y_size() const { return x_size(); }
  [[nodiscard]] Vector lower_bound() const { return Vector::Constant(x_size(), -data_->limit); }
  [[nodiscard]] Vector upper_bound() const { return Vector::Constant(x_size(), data_->limit); }

  [[nodiscard]] const SignedRows &training() const { return data_->training; }
  [[nodiscard]] const SignedRows &held_out() const { return data_->held_out; }

private:
  struct Data {
    SignedRows training;
    SignedRows held_out;
    double limit;
  };
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
