#include "zoo/penalized.hpp"

namespace duplex::zoo {

namespace {

/// The tables below one another and beside one another, with zeros elsewhere.
Samples<double> in_blocks(const std::vector<Samples<double>> &tables) {
  Index rows = 0;
  Index columns = 0;
  for (const auto &table : tables) {
    rows += table.features.rows();
    columns += table.features.cols();
  }
  Samples<double> out{Eigen::MatrixXd::Zero(rows, columns), Eigen::VectorXd(rows)};
  Index row = 0;
  Index column = 0;
  for (const auto &table : tables) {
    out.features.block(row, column, table.features.rows(), table.features.cols()) = table.features;
    out.targets.segment(row, table.features.rows()) = table.targets;
    row += table.features.rows();
    column += table.features.cols();
  }
  return out;
}

} // namespace

std::pair<Samples<double>, Samples<double>> draw_tables(const PenalizedSettings &settings) {
  Draws draws(settings.seed);
  std::vector<Samples<double>> training;
  std::vector<Samples<double>> validation;
  for (Index task = 0; task < settings.tasks; ++task) {
    SampleModel model = settings.model;
    if (task > 0) { // the same features matter, in another way
      model.weights = model.weights.cwiseProduct(draws.normals(model.weights.size()));
    }
    training.push_back(draw_samples(draws, model, settings.training));
    validation.push_back(draw_samples(draws, model, settings.validation));
  }
  return {in_blocks(training), in_blocks(validation)};
}

} // namespace duplex::zoo
