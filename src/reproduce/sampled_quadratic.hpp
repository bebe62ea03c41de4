#pragma once
// A quadratic that is a mean over samples on both levels, and whose hypergradient is known in closed form:
//
//   f = (1/n) Σ_i ½(a_i·y − b_i·x − c_i)² + ½μ‖y‖²,    F = (1/m) Σ_j ½(p_j·y − t_j)² + ½(q_j·x − s_j)².

#include <duplex/problem/finite_sum.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>

namespace duplex::reproduce {

struct SampledQuadraticSize {
  Index lower_samples = 32768;
  Index upper_samples = 1024;
  Index y = 100;
  Index x = 10;
  double strong_convexity = 0.1; ///< μ
  double coupling = 0.1;         ///< size of b beside that of a
};

class SampledQuadratic {
public:
  using Vector = Eigen::VectorXf;
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// One level's samples: ½(left·y − right·x − constant)², and of F the two terms apart.
  struct Data {
    Rows a, b, p, q;
    Vector c, t, s;
  };

  SampledQuadratic(const SampledQuadraticSize &size, std::uint64_t seed) : size_(size) {
    std::mt19937_64 generator(seed);
    const auto normal = [&](Index rows, Index columns) {
      std::normal_distribution<float> draw;
      return Rows(Rows::NullaryExpr(rows, columns, [&] { return draw(generator); }));
    };
    auto data = std::make_shared<Data>();
    data->a = normal(size.lower_samples, size.y);
    for (Index j = 0; j < size.y; ++j) { // the mean of a aᵀ has eigenvalues from 1 down to .01
      data->a.col(j) *= static_cast<float>(std::pow(0.1, static_cast<double>(j) / static_cast<double>(size.y - 1)));
    }
    const auto coupling = static_cast<float>(size.coupling);
    data->b =
        coupling * normal(size.lower_samples, size.x) + coupling * data->a.leftCols(size.x); // else y* hardly sees x
    data->c = normal(size.lower_samples, 1);
    data->p = normal(size.upper_samples, size.y);
    data->t = normal(size.upper_samples, 1);
    data->q = normal(size.upper_samples, size.x);
    data->s = normal(size.upper_samples, 1);
    data_ = std::move(data);
  }

  class Level : public Point<Vector> {
  public:
    Level(std::shared_ptr<const Data> data, const Batch *batch, Index samples)
        : data_(std::move(data)), batch_(batch), all_(whole_batch(samples)) {}

  protected:
    [[nodiscard]] const Data &data() const { return *data_; }
    [[nodiscard]] float weight() const { return static_cast<float>(batch().weight); }
    [[nodiscard]] auto of_batch(const Rows &rows) const { return rows.middleRows(batch().first, batch().count); }
    [[nodiscard]] auto of_batch(const Vector &rows) const { return rows.segment(batch().first, batch().count); }

  private:
    [[nodiscard]] const Batch &batch() const { return batch_ != nullptr ? *batch_ : all_; }

    std::shared_ptr<const Data> data_;
    const Batch *batch_;
    Batch all_;
  };

  class Lower : public Level {
  public:
    Lower(const SampledQuadratic &problem, const Batch *batch)
        : Level(problem.data_, batch, problem.lower_samples()),
          mu_(static_cast<float>(problem.size_.strong_convexity)) {}

    [[nodiscard]] double value() {
      measure();
      return 0.5 * static_cast<double>(weight() * misfit_.squaredNorm() + mu_ * y().squaredNorm());
    }
    void grad_x(Vector &out) {
      measure();
      out.noalias() = -weight() * (of_batch(data().b).transpose() * misfit_);
    }
    void grad_y(Vector &out) {
      measure();
      out.noalias() = weight() * (of_batch(data().a).transpose() * misfit_);
      out += mu_ * y();
    }
    void hess_yy(const Vector &v, Vector &out) {
      along_.noalias() = of_batch(data().a) * v;
      out.noalias() = weight() * (of_batch(data().a).transpose() * along_);
      out += mu_ * v;
    }
    void cross_xy(const Vector &v, Vector &out) {
      along_.noalias() = of_batch(data().a) * v;
      out.noalias() = -weight() * (of_batch(data().b).transpose() * along_);
    }

  private:
    void measure() {
      misfit_.noalias() = of_batch(data().a) * y();
      misfit_.noalias() -= of_batch(data().b) * x();
      misfit_ -= of_batch(data().c);
    }

    float mu_;
    Vector misfit_;
    Vector along_;
  };

  class Upper : public Level {
  public:
    Upper(const SampledQuadratic &problem, const Batch *batch) : Level(problem.data_, batch, problem.upper_samples()) {}

    [[nodiscard]] double value() {
      measure(data().p, y(), data().t);
      const float of_y = misfit_.squaredNorm();
      measure(data().q, x(), data().s);
      return 0.5 * static_cast<double>(weight() * (of_y + misfit_.squaredNorm()));
    }
    void grad_x(Vector &out) {
      measure(data().q, x(), data().s);
      out.noalias() = weight() * (of_batch(data().q).transpose() * misfit_);
    }
    void grad_y(Vector &out) {
      measure(data().p, y(), data().t);
      out.noalias() = weight() * (of_batch(data().p).transpose() * misfit_);
    }

  private:
    void measure(const Rows &rows, const Vector &at, const Vector &targets) {
      misfit_.noalias() = of_batch(rows) * at;
      misfit_ -= of_batch(targets);
    }

    Vector misfit_;
  };

  [[nodiscard]] Lower lower() const { return {*this, nullptr}; }
  [[nodiscard]] Upper upper() const { return {*this, nullptr}; }
  [[nodiscard]] Lower lower(const Batch &batch) const { return {*this, &batch}; }
  [[nodiscard]] Upper upper(const Batch &batch) const { return {*this, &batch}; }
  [[nodiscard]] Index lower_samples() const { return size_.lower_samples; }
  [[nodiscard]] Index upper_samples() const { return size_.upper_samples; }
  [[nodiscard]] Index x_size() const { return size_.x; }
  [[nodiscard]] Index y_size() const { return size_.y; }
  [[nodiscard]] State<Vector> start() const {
    return {Vector::Ones(x_size()), Vector::Zero(y_size()), Vector::Zero(y_size())};
  }

  /// ‖∇h(x)‖², h(x) = F(x, y*(x)), in double precision from the means.
  class Truth {
  public:
    explicit Truth(const SampledQuadratic &problem) {
      const Data &data = *problem.data_;
      const auto n = static_cast<double>(problem.lower_samples());
      const auto m = static_cast<double>(problem.upper_samples());
      const Eigen::MatrixXd a = data.a.cast<double>();
      const Eigen::MatrixXd p = data.p.cast<double>();
      const Eigen::MatrixXd q = data.q.cast<double>();
      hessian_.compute(a.transpose() * a / n +
                       problem.size_.strong_convexity * Eigen::MatrixXd::Identity(a.cols(), a.cols()));
      coupling_ = a.transpose() * data.b.cast<double>() / n;
      constant_ = a.transpose() * data.c.cast<double>() / n;
      upper_y_ = p.transpose() * p / m;
      upper_y_constant_ = p.transpose() * data.t.cast<double>() / m;
      upper_x_ = q.transpose() * q / m;
      upper_x_constant_ = q.transpose() * data.s.cast<double>() / m;
    }

    [[nodiscard]] double squared_slope(const Vector &at) const {
      const Eigen::VectorXd x = at.cast<double>();
      const Eigen::VectorXd y = hessian_.solve(coupling_ * x + constant_);
      const Eigen::VectorXd v = hessian_.solve(upper_y_ * y - upper_y_constant_);
      return (upper_x_ * x - upper_x_constant_ + coupling_.transpose() * v).squaredNorm();
    }

  private:
    Eigen::LLT<Eigen::MatrixXd> hessian_;
    Eigen::MatrixXd coupling_;
    Eigen::VectorXd constant_;
    Eigen::MatrixXd upper_y_;
    Eigen::VectorXd upper_y_constant_;
    Eigen::MatrixXd upper_x_;
    Eigen::VectorXd upper_x_constant_;
  };

private:
  SampledQuadraticSize size_;
  std::shared_ptr<const Data> data_;
};

static_assert(FiniteSumProblem<SampledQuadratic>);

} // namespace duplex::reproduce
