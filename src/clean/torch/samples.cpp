#include "clean/torch/samples.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace duplex::clean {

namespace {

at::ScalarType type_as_stored(Storage storage) {
  return storage == Storage::float16 ? at::kHalf : storage == Storage::byte ? at::kByte : at::kFloat;
}

/// A network's first layer is dense, so that sparse rows are filled up.
at::Tensor filled_up(const FeatureTable &table) {
  at::Tensor out = at::zeros({table.rows(), table.columns()}, at::kFloat);
  auto values = out.accessor<float, 2>();
  for (Index i = 0; i < table.rows(); ++i) {
    const SparseRow row = table.sparse_row(i);
    for (std::size_t entry = 0; entry < row.values.size(); ++entry) {
      values[i][row.columns[entry]] = row.values[entry];
    }
  }
  return out;
}

/// A layer's weights and biases from rows that end with the bias.
void push_layer(const at::Tensor &flat, Index first, Index outputs, Index inputs, std::vector<at::Tensor> &layers) {
  const auto rows = flat.narrow(0, first, outputs * (inputs + 1)).view({outputs, inputs + 1});
  layers.push_back(rows.narrow(1, 0, inputs).contiguous());
  layers.push_back(rows.select(1, inputs).contiguous());
}

} // namespace

NetworkSamples NetworkSamples::part(Index first, Index count) const {
  return {features.narrow(0, first, count), likelihoods.narrow(0, first, count)};
}

at::Tensor tensor_of(const Vector &vector, const at::Device &device) {
  at::Tensor out = at::empty({vector.size()}, at::kFloat);
  std::copy(vector.begin(), vector.end(), out.data_ptr<float>());
  return out.to(device);
}

at::Tensor tensor_of(const Matrix &matrix, const at::Device &device) {
  at::Tensor out = at::empty({matrix.rows(), matrix.cols()}, at::kFloat);
  std::copy_n(matrix.data(), matrix.size(), out.data_ptr<float>());
  return out.to(device);
}

Matrix matrix_of(const at::Tensor &tensor) {
  const at::Tensor here = tensor.to(at::kCPU, at::kFloat).contiguous();
  return Eigen::Map<const Matrix>(here.data_ptr<float>(), here.size(0), here.size(1));
}

NetworkSamples network_samples(const LabelledSamples &samples, Index classes, const at::Device &device,
                               at::ScalarType type) {
  const FeatureTable &table = *samples.features;
  at::Tensor features;
  if (table.is_sparse()) {
    features = filled_up(table);
  } else {
    features = at::empty({table.rows(), table.columns()}, type_as_stored(table.storage()));
    std::copy_n(table.data(), table.bytes(), static_cast<std::byte *>(features.data_ptr()));
  }
  features = features.to(device, type);
  if (!table.scale().empty()) {
    const auto row_of = [&](const std::vector<float> &numbers) {
      at::Tensor row = at::empty({table.columns()}, at::kFloat);
      std::copy(numbers.begin(), numbers.end(), row.data_ptr<float>());
      return row.to(device, type);
    };
    features.mul_(row_of(table.scale())).add_(row_of(table.shift()));
  }
  at::Tensor likelihoods = at::zeros({table.rows(), classes}, at::kFloat);
  auto wanted = likelihoods.accessor<float, 2>();
  for (Index i = 0; i < table.rows(); ++i) {
    wanted[i][(*samples.labels)[static_cast<std::size_t>(i)]] = 1.0F;
  }
  return {std::move(features), likelihoods.to(device, type)};
}

Tensors layers_of(const Vector &model, const NetworkSettings &settings, const at::Device &device) {
  const at::Tensor flat = tensor_of(model, device);
  const Index inner = settings.hidden * (settings.features + 1);
  std::vector<at::Tensor> layers;
  push_layer(flat, 0, settings.hidden, settings.features, layers);
  push_layer(flat, inner, settings.classes, settings.hidden, layers);
  return Tensors(std::move(layers));
}

Vector vector_of(const Tensors &layers) {
  std::vector<at::Tensor> flat;
  for (std::size_t i = 0; i < layers.count(); i += 2) {
    flat.push_back(at::cat({layers[i], layers[i + 1].unsqueeze(1)}, 1).reshape(-1));
  }
  const at::Tensor all = at::cat(flat).to(at::kCPU, at::kFloat);
  return Eigen::Map<const Vector>(all.data_ptr<float>(), all.numel());
}

} // namespace duplex::clean
