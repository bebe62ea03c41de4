#pragma once
// A level of a problem that is written in Python: its functions, and an evaluation that calls them.
//
// An evaluation has arrays of its own for x, y, v and what is asked for, made once: what the engine works on is copied
// into them and back, some nanoseconds for a hundred entries, so that an array which a function keeps is never one
// whose memory the engine has let go of.

#include "python/failure.hpp"
#include "python/vectors.hpp"

#include <duplex/problem/offered.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace duplex::python {

/// What a level may offer, in the order in which duplex/_problem.py lists it.
enum class Member : std::uint8_t {
  at,
  value,
  grad_x,
  grad_y,
  hess_yy,
  cross_xy,
  both_products,
  precondition,
  solve_lower
};
inline constexpr std::array<const char *, 9> member_names{
    "at", "value", "grad_x", "grad_y", "hess_yy", "cross_xy", "both_products", "precondition", "solve_lower"};
constexpr std::size_t member_count = member_names.size();

struct Function {
  py::object call;         ///< none: it is not offered
  bool takes_out = false;  ///< it writes into its last argument
  bool takes_point = true; ///< x and y are its first arguments
};

/// Which members a level of a problem has, known before there is an evaluation.
class OfferedMembers {
public:
  OfferedMembers() = default;
  explicit OfferedMembers(std::uint32_t bits) : bits_(bits) {}
  [[nodiscard]] bool has(Member member) const { return (bits_ >> static_cast<unsigned>(member) & 1U) != 0; }

private:
  std::uint32_t bits_ = 0;
};

/// Where an evaluation is made: with the sizes of the problem, and where what fails is kept.
struct LevelSetting {
  std::string name; ///< "lower" or "upper"
  py::object make;  ///< called for each evaluation, with its x and y; a list of (function, takes out, takes point)
  bool writable_point = false;
};

/// An array that functions may read, and write where they may, and its memory.
struct OwnArray {
  OwnArray(Index size, bool is_writable);

  Array array;
  double *memory;
};

class Level {
public:
  Level(const LevelSetting &setting, Index x_size, Index y_size, std::shared_ptr<Failure> failure);

  void at(const Vector &x, const Vector &y);
  [[nodiscard]] double value();
  /// Of the member that has no direction.
  void fill(Member member, Vector &out);
  void fill(Member member, const Vector &v, Vector &out);
  [[nodiscard]] bool has(Member member) const { return functions_[place(member)].call.ptr() != nullptr; }
  void fill_both(const Vector &v, Vector &hess, Vector &cross);

private:
  static std::size_t place(Member member) { return static_cast<std::size_t>(member); }
  [[nodiscard]] std::string shown(Member member) const;
  /// The array that is passed for it to write into.
  [[nodiscard]] const OwnArray &output(Member member) const;
  /// Calls with x and y, v and out as they are asked for. Call it with the lock.
  [[nodiscard]] py::object call(Member member, const OwnArray *v, const OwnArray *out);
  void fill_by(Member member, const OwnArray *v, Vector &out);
  void take(Member member, const py::object &result, Vector &out);
  void copy_direction(const Vector &v);

  std::string name_;
  std::shared_ptr<Failure> failure_;
  std::array<Function, member_count> functions_;
  OwnArray x_;
  OwnArray y_;
  OwnArray v_;
  OwnArray out_x_;
  OwnArray out_y_;
};

} // namespace duplex::python
