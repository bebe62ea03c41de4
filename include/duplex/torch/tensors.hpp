#pragma once
// The vector space over lists of tensors: parameters as they are, on any device, in float32 or
// float64. A copy is a copy of the numbers (a tensor's own assignment would share them), a move is
// cheap. Solvers see none of this.

#include <duplex/core/saved_state.hpp>
#include <duplex/space/box.hpp>
#include <duplex/space/space.hpp>
#include <duplex/step/upper_rule.hpp>

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace duplex {

class Tensors {
public:
  Tensors() = default;
  /// Shares the memory of the tensors, without their graph. Throws InvalidInput unless all are of one floating-point
  /// type on one device.
  explicit Tensors(std::vector<at::Tensor> tensors);
  Tensors(const Tensors &other);
  Tensors &operator=(const Tensors &other);
  Tensors(Tensors &&) noexcept = default;
  Tensors &operator=(Tensors &&) noexcept = default;
  ~Tensors() = default;

  [[nodiscard]] const std::vector<at::Tensor> &list() const { return list_; }
  [[nodiscard]] std::size_t count() const { return list_.size(); }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const at::Tensor &operator[](std::size_t i) const { return list_[i]; }
  [[nodiscard]] auto begin() const { return list_.begin(); }
  [[nodiscard]] auto end() const { return list_.end(); }

  /// The numbers of the given tensors, into memory that is there where the shapes allow.
  void copy_from(const std::vector<at::Tensor> &source);

private:
  std::vector<at::Tensor> list_;
};

void axpy(double a, const Tensors &x, Tensors &y);
void scale(double a, Tensors &y);
void assign(const Tensors &source, Tensors &destination);
void set_zero(Tensors &y);
[[nodiscard]] Tensors zeros_like(const Tensors &x);
[[nodiscard]] double dot(const Tensors &a, const Tensors &b);
[[nodiscard]] Index size(const Tensors &x);
[[nodiscard]] bool all_finite(const Tensors &x);
/// The same numbers as an Eigen vector of that many entries would have.
void fill_normal(std::mt19937_64 &generator, Tensors &x);
[[nodiscard]] double precision(const Tensors &x);

// Bounds (box.hpp).
void fill(double value, Tensors &x);
void clip(const Tensors &lower, const Tensors &upper, Tensors &x);
void drop_outward(const Tensors &lower, const Tensors &upper, const Tensors &x, Tensors &d);

void adam_update(const UpperRule &rule, double alpha, std::int64_t step, const Tensors &d, Tensors &first,
                 Tensors &second, Tensors &x);

/// All entries, one tensor's after the other's.
[[nodiscard]] SavedState::Value numbers_of(const Tensors &x);
/// Into the memory of the tensors. Throws InvalidInput where their count or type differs.
void set_numbers(const SavedState::Value &numbers, Tensors &x);

static_assert(VectorSpace<Tensors> && BoundedSpace<Tensors>);

/// "cpu", "cuda" or "cuda:1". Throws InvalidInput for another name and where there is no such device.
[[nodiscard]] at::Device device_named(const std::string &name);

} // namespace duplex
