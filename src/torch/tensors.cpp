#include <duplex/torch/tensors.hpp>

#include <duplex/core/error.hpp>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace duplex {

namespace {

template <class T> std::string text_of(const T &value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::vector<at::Tensor> cloned(const std::vector<at::Tensor> &source) {
  std::vector<at::Tensor> copies;
  copies.reserve(source.size());
  for (const auto &tensor : source) {
    copies.push_back(tensor.detach().clone());
  }
  return copies;
}

/// One number from one number for each tensor, with one wait for the device.
double total(const std::vector<at::Tensor> &parts) {
  if (parts.size() == 1) {
    return parts.front().item<double>();
  }
  return parts.empty() ? 0.0 : at::stack(parts).sum().item<double>();
}

} // namespace

Tensors::Tensors(std::vector<at::Tensor> tensors) : list_(std::move(tensors)) {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    auto &tensor = list_[i];
    const std::string name = "tensor " + std::to_string(i);
    if (!tensor.defined()) {
      throw InvalidInput(name + " is undefined, expected numbers");
    }
    const auto type = tensor.scalar_type();
    if (type != at::kFloat && type != at::kDouble) {
      throw InvalidInput(name + " holds numbers of type " + text_of(type) + ", expected float32 or float64");
    }
    if (tensor.device() != list_.front().device()) {
      throw InvalidInput(name + " is on " + text_of(tensor.device()) + " and tensor 0 on " +
                         text_of(list_.front().device()) + ", expected one device");
    }
    if (type != list_.front().scalar_type()) {
      throw InvalidInput(name + " holds numbers of type " + text_of(type) + " and tensor 0 of type " +
                         text_of(list_.front().scalar_type()) + ", expected one type");
    }
    tensor = tensor.detach();
  }
}

Tensors::Tensors(const Tensors &other) : list_(cloned(other.list_)) {}

Tensors &Tensors::operator=(const Tensors &other) {
  if (this != &other) {
    copy_from(other.list_);
  }
  return *this;
}

void Tensors::copy_from(const std::vector<at::Tensor> &source) {
  const c10::NoGradGuard no_graph;
  bool fits = list_.size() == source.size();
  for (std::size_t i = 0; fits && i < source.size(); ++i) {
    fits = list_[i].sizes() == source[i].sizes() && list_[i].options().type_equal(source[i].options());
  }
  if (!fits) {
    list_ = cloned(source);
    return;
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    list_[i].copy_(source[i]);
  }
}

void axpy(double a, const Tensors &x, Tensors &y) {
  if (!y.empty()) {
    at::_foreach_add_(y.list(), x.list(), a);
  }
}

void scale(double a, Tensors &y) {
  if (!y.empty()) {
    at::_foreach_mul_(y.list(), at::Scalar(a));
  }
}

void assign(const Tensors &source, Tensors &destination) { destination = source; }

void set_zero(Tensors &y) {
  for (const auto &tensor : y) {
    tensor.zero_();
  }
}

void fill(double value, Tensors &x) {
  for (const auto &tensor : x) {
    tensor.fill_(value);
  }
}

void clip(const Tensors &lower, const Tensors &upper, Tensors &x) {
  for (std::size_t i = 0; i < x.count(); ++i) {
    x[i].clamp_(lower[i], upper[i]);
  }
}

void drop_outward(const Tensors &lower, const Tensors &upper, const Tensors &x, Tensors &d) {
  for (std::size_t i = 0; i < d.count(); ++i) {
    const at::Tensor leaves_below = at::logical_and(x[i].le(lower[i]), d[i].gt(0));
    const at::Tensor leaves_above = at::logical_and(x[i].ge(upper[i]), d[i].lt(0));
    d[i].masked_fill_(at::logical_or(leaves_below, leaves_above), 0);
  }
}

Tensors zeros_like(const Tensors &x) {
  std::vector<at::Tensor> zeros;
  zeros.reserve(x.count());
  for (const auto &tensor : x) {
    zeros.push_back(at::zeros_like(tensor));
  }
  return Tensors(std::move(zeros));
}

double dot(const Tensors &a, const Tensors &b) {
  std::vector<at::Tensor> parts;
  if (&a == &b && a.count() > 1) {
    parts = at::_foreach_norm(a.list(), 2);
    at::_foreach_mul_(parts, parts);
    return total(parts);
  }
  parts.reserve(a.count());
  for (std::size_t i = 0; i < a.count(); ++i) {
    parts.push_back(at::dot(a[i].reshape(-1), b[i].reshape(-1)));
  }
  return total(parts);
}

Index size(const Tensors &x) {
  Index entries = 0;
  for (const auto &tensor : x) {
    entries += tensor.numel();
  }
  return entries;
}

bool all_finite(const Tensors &x) {
  std::vector<at::Tensor> parts;
  parts.reserve(x.count());
  for (const auto &tensor : x) {
    parts.push_back(at::isfinite(tensor).all());
  }
  return parts.empty() || at::stack(parts).all().item<bool>();
}

void fill_normal(std::mt19937_64 &generator, Tensors &x) {
  std::normal_distribution<double> normal;
  for (const auto &tensor : x) {
    at::Tensor numbers = at::empty(tensor.sizes(), at::kDouble);
    double *entries = numbers.data_ptr<double>();
    for (std::int64_t i = 0; i < numbers.numel(); ++i) {
      entries[i] = normal(generator);
    }
    tensor.copy_(numbers);
  }
}

double precision(const Tensors &x) {
  return !x.empty() && x[0].scalar_type() == at::kFloat ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                                        : std::numeric_limits<double>::epsilon();
}

void adam_update(const UpperRule &rule, double alpha, std::int64_t step, const Tensors &d, Tensors &first,
                 Tensors &second, Tensors &x) {
  if (x.empty()) {
    return;
  }
  const auto t = static_cast<double>(step);
  const double correction1 = 1.0 - std::pow(rule.adam_beta1, t);
  const double correction2 = 1.0 - std::pow(rule.adam_beta2, t);
  at::_foreach_mul_(first.list(), at::Scalar(rule.adam_beta1));
  at::_foreach_add_(first.list(), d.list(), 1.0 - rule.adam_beta1);
  at::_foreach_mul_(second.list(), at::Scalar(rule.adam_beta2));
  at::_foreach_addcmul_(second.list(), d.list(), d.list(), 1.0 - rule.adam_beta2);
  auto scale_of_entries = at::_foreach_sqrt(second.list());
  at::_foreach_div_(scale_of_entries, at::Scalar(std::sqrt(correction2)));
  at::_foreach_add_(scale_of_entries, at::Scalar(rule.adam_epsilon));
  at::_foreach_addcdiv_(x.list(), first.list(), scale_of_entries, -alpha / correction1);
}

at::Device device_named(const std::string &name) {
  const auto refuse = [&](const std::string &why) { throw InvalidInput("device = '" + name + "', " + why); };
  const std::string expected = "expected cpu, cuda or cuda:N";
  at::Device device(at::kCPU);
  try {
    device = at::Device(name);
  } catch (const c10::Error &) {
    refuse(expected);
  }
  if (name == "cpu") {
    return device;
  }
  if (!device.is_cuda() || device.str() != name) { // an index that wraps around is another device
    refuse(expected);
  }
  const int devices = at::hasCUDA() ? static_cast<int>(at::detail::getCUDAHooks().getNumGPUs()) : 0;
  if (devices == 0) {
    refuse("but there is no CUDA device here, or this LibTorch is built without CUDA; expected cpu");
  }
  if (device.has_index() && device.index() >= devices) {
    refuse("but there are " + std::to_string(devices) + " CUDA devices, numbered from 0");
  }
  return device.has_index() ? device : at::Device(at::kCUDA, 0);
}

namespace {

template <class T> SavedState::Value entries_as(const Tensors &x) {
  std::vector<T> all;
  for (const auto &tensor : x) {
    const auto on_host = tensor.detach().cpu().contiguous();
    all.insert(all.end(), on_host.template data_ptr<T>(), on_host.template data_ptr<T>() + on_host.numel());
  }
  return all;
}

template <class T> void set_entries(const SavedState::Value &numbers, Tensors &x) {
  const auto *all = std::get_if<std::vector<T>>(&numbers);
  if (all == nullptr || static_cast<Index>(all->size()) != size(x)) {
    throw InvalidInput("tensors of the saved state are of another size or type");
  }
  auto copy = *all; // from_blob takes no constant memory
  std::int64_t at = 0;
  for (const auto &tensor : x) {
    tensor.copy_(at::from_blob(copy.data() + at, tensor.sizes(), c10::CppTypeToScalarType<T>::value));
    at += tensor.numel();
  }
}

} // namespace

SavedState::Value numbers_of(const Tensors &x) {
  return !x.empty() && x[0].scalar_type() == at::kFloat ? entries_as<float>(x) : entries_as<double>(x);
}

void set_numbers(const SavedState::Value &numbers, Tensors &x) {
  if (!x.empty() && x[0].scalar_type() == at::kFloat) {
    set_entries<float>(numbers, x);
  } else {
    set_entries<double>(numbers, x);
  }
}

} // namespace duplex
