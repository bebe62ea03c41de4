#include "python/cleaning.hpp"

#include "catalog/options.hpp"
#include "clean/cleaning.hpp"
#include "clean/others_beliefs.hpp"
#include "clean/outcome.hpp"
#include "clean/warnings.hpp"
#include "data/table_plan.hpp"
#include "python/failure.hpp"
#include "python/interrupt.hpp"
#include "python/tables.hpp"
#include "report/html.hpp"
#include "report/json_file.hpp"

#include <duplex/core/conversion.hpp>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace duplex::python {

namespace {

using clean::Json;
using data::Dataset;

/// What of rows is told as arrays.
template <class T, class Values> py::array_t<T> array_of_rows(const Values &values) {
  py::array_t<T> out(static_cast<py::ssize_t>(values.size()));
  std::transform(values.begin(), values.end(), out.mutable_data(), [](auto value) { return static_cast<T>(value); });
  return out;
}

void give_labels(Dataset &dataset, Labels labels) {
  if (labels.numbers.size() != static_cast<std::size_t>(dataset.features.rows())) {
    throw InvalidInput(fmt::format("{}: found {} rows and {} labels, expected as many", dataset.source,
                                   dataset.features.rows(), labels.numbers.size()));
  }
  dataset.labels = std::move(labels.numbers);
  dataset.label_names = std::move(labels.names);
}

clean::Options options_of(const py::dict &settings) {
  const auto whole = [&](const char *name, const Bound &bound) {
    return static_cast<std::int64_t>(
        number_within(static_cast<double>(settings[name].cast<std::int64_t>()), bound, name));
  };
  clean::Options options;
  options.model = catalog::named<clean::ModelKind>("model", settings["model"].cast<std::string>());
  if (options.model == clean::ModelKind::mlp) {
    throw NotAvailable("model = mlp: the Python package has no networks; `duplex clean --model mlp` does");
  }
  options.rounds = whole("rounds", Bound{.low = 0, .high = 1000});
  options.threshold = number_within(settings["threshold"].cast<double>(), Bound{.low = 0.0, .high = 1.0}, "threshold");
  options.seed = static_cast<std::uint64_t>(whole("random_state", non_negative));
  options.threads = static_cast<int>(whole("threads", Bound{.low = 0, .high = 1024}));
  return options;
}

class Job {
public:
  explicit Job(const py::dict &request)
      : request_(request), failure_(std::make_shared<Failure>()),
        options_(options_of(request["settings"].cast<py::dict>())),
        kept_as_(catalog::named<clean::KeptAs>("storage", request["settings"]["storage"].cast<std::string>())) {
    read_training();
    read_trusted();
    read_probabilities();
  }

  [[nodiscard]] py::dict run() {
    const py::object tell = request_["tell"];
    options_.interrupt = &failure_->asked_to_end();
    if (!tell.is_none()) {
      options_.tell = [tell = held_without_lock(py::object(tell)), failure = failure_](const std::string &what) {
        failure->require_none();
        const py::gil_scoped_acquire lock;
        try {
          (*tell)(what);
        } catch (py::error_already_set &error) {
          error.restore();
          failure->leave();
        }
      };
    }
    std::optional<Found> found;
    {
      const HearsInterrupt hears(failure_->asked_to_end(), request_["is_main"].cast<bool>());
      if (PyErr_CheckSignals() != 0) { // of a moment ago, when nobody heard it
        throw py::error_already_set();
      }
      try {
        found = without_lock(*failure_, [&] { return cleaned(); });
      } catch (const Interrupted &) { // Python says so itself, as soon as it is asked
        if (PyErr_CheckSignals() != 0) {
          throw py::error_already_set();
        }
        throw;
      }
    }
    return told(*found);
  }

private:
  struct Found {
    clean::Outcome outcome;
    std::vector<data::Remark> warnings = {};
    std::string summary = {}; ///< as JSON
    std::string page = {};    ///< data of the report, as JSON
  };

  void read_training() {
    training_ = read_table(request_["table"].cast<py::dict>(), "X", nullptr);
    give_labels(training_, read_labels(request_["labels"].cast<py::dict>()));
    remarks_ = training_.remarks;
    plan_ =
        training_.plan ? training_.plan : data::plan_of_numbers(training_.features.columns(), training_.feature_names);
    if (const py::object sources = request_["sources"]; !sources.is_none()) {
      auto labels = read_labels(sources.cast<py::dict>());
      training_.sources = std::move(labels.numbers);
      training_.source_names = std::move(labels.names);
    }
    if (const py::object ids = request_["ids"]; !ids.is_none()) {
      training_.ids = ids.cast<std::vector<std::string>>();
    }
  }

  void read_trusted() {
    const py::object table = request_["trusted_table"];
    training_.marked = read_mask(request_["trusted"]);
    if (!training_.marked.empty()) {
      trusted_ = data::take_marked_rows(training_);
    } else if (!table.is_none()) {
      trusted_ = read_table(table.cast<py::dict>(), "X_trusted", plan_);
      remarks_.insert(remarks_.end(), trusted_.remarks.begin(), trusted_.remarks.end());
      give_labels(trusted_, read_labels(request_["trusted_labels"].cast<py::dict>()));
      data::require_same_features(training_, trusted_);
      data::map_labels_onto(training_, trusted_);
    }
  }

  [[nodiscard]] std::optional<clean::Matrix> beliefs(const char *name) const {
    const py::object table = request_[name];
    return table.is_none() ? std::nullopt
                           : std::optional(clean::log_beliefs(read_table(table.cast<py::dict>(), name, nullptr)));
  }

  void read_probabilities() {
    const auto of_rows = beliefs("pred_probs");
    const auto of_trusted = beliefs("trusted_pred_probs");
    if (!of_rows) {
      return;
    }
    clean::OthersBeliefs others;
    const bool is_marked = !training_.file_rows.empty();
    if (const auto expected = training_.labels.size() + (is_marked ? trusted_.labels.size() : 0);
        static_cast<std::size_t>(of_rows->rows()) != expected) {
      throw InvalidInput(fmt::format("pred_probs: found {} rows of probabilities, expected {}, as many as X has",
                                     of_rows->rows(), expected));
    }
    others.training = is_marked ? clean::Matrix((*of_rows)(training_.file_rows, Eigen::all)) : *of_rows;
    if (is_marked) {
      others.trusted = (*of_rows)(trusted_.file_rows, Eigen::all);
    } else if (of_trusted) {
      others.trusted = *of_trusted;
    }
    others_ = std::move(others);
  }

  [[nodiscard]] Found cleaned() {
    std::vector<data::Remark> warnings = remarks_;
    const auto add = [&](const std::vector<data::Remark> &more) {
      warnings.insert(warnings.end(), more.begin(), more.end());
    };
    add(clean::warnings_of_input(training_, trusted_));
    const auto prepared = clean::prepare(training_, trusted_, kept_as_, options_.seed);
    options_.pixels = prepared.pixels;
    options_.sources = prepared.sources;
    if (others_) {
      options_.others = std::make_shared<const clean::OthersBeliefs>(
          clean::OthersBeliefs{others_->training(prepared.order, Eigen::all), others_->trusted});
    }
    Found found{.outcome =
                    clean::outcome_of(clean::clean(prepared.training, prepared.trusted, prepared.classes, options_),
                                      prepared, training_)};
    add(clean::warnings_of_result(found.outcome.result, prepared, training_));
    Json list = Json::array();
    for (const auto &[code, text] : warnings) {
      list.push_back({{"code", code}, {"text", text}});
    }
    const Json settings = report::parsed_json(settings_text_, "settings");
    Json summary = clean::summary_json(found.outcome, training_);
    summary["settings"] = settings;
    summary["warnings"] = list;
    summary["scaling"] = prepared.scaling.kind;
    found.summary = report::json_text(summary, 2);
    found.page = report::json_text(clean::report_json({.outcome = found.outcome,
                                                       .prepared = prepared,
                                                       .training = training_,
                                                       .test = std::nullopt,
                                                       .warnings = list,
                                                       .settings = settings}));
    found.warnings = std::move(warnings);
    return found;
  }

  [[nodiscard]] py::dict told(Found &found) const {
    const auto &result = found.outcome.result;
    py::dict out;
    out["classes"] = training_.label_names;
    out["trust"] = array_of_rows<double>(result.trust);
    out["suggested"] = array_of_rows<std::int64_t>(result.suggested);
    out["probability"] = array_of_rows<double>(result.probability);
    out["suspects"] = array_of_rows<std::int64_t>(found.outcome.suspects);
    out["rows"] =
        training_.file_rows.empty() ? py::object(py::none()) : array_of_rows<std::int64_t>(training_.file_rows);
    out["suspects_below_trust"] = result.suspect_below;
    out["expected_wrong"] = clean::expected_wrong(result);
    out["feature_names"] = training_.feature_names;
    py::list warnings;
    for (const auto &[code, text] : found.warnings) {
      warnings.append(py::make_tuple(code, text));
    }
    out["warnings"] = warnings;
    out["summary"] = found.summary;
    out["page"] = found.page;
    out["model"] = py::cast(std::move(found.outcome.model));
    return out;
  }

  const py::dict &request_;
  std::shared_ptr<Failure> failure_;
  clean::Options options_;
  clean::KeptAs kept_as_;
  std::string settings_text_ = request_["settings_text"].cast<std::string>();
  Dataset training_;
  Dataset trusted_;
  std::shared_ptr<const data::TablePlan> plan_;
  std::vector<data::Remark> remarks_;
  std::optional<clean::OthersBeliefs> others_;
};

py::array_t<double> probabilities(const clean::Model &model, const py::dict &table) {
  const auto dataset = read_table(table, "X", clean::plan_of(model));
  Eigen::MatrixXd found;
  {
    const py::gil_scoped_release others_may_run;
    found = clean::probabilities_of(model, dataset);
  }
  py::array_t<double> out({found.rows(), found.cols()});
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(out.mutable_data(), found.rows(),
                                                                                     found.cols()) = found;
  return out;
}

/// As the files that `duplex clean` writes, and `duplex predict` reads.
std::map<std::string, py::bytes> files_of(const clean::Model &model) {
  std::map<std::string, py::bytes> files;
  for (const auto &file : clean::model_files(model)) {
    files.emplace(file.name, py::bytes(file.content));
  }
  return files;
}

clean::Model model_of(const std::map<std::string, py::bytes> &files) {
  const auto bytes_of = [&](const std::string &name) {
    const auto found = files.find(name);
    if (found == files.end()) {
      throw InvalidInput("the pickled model lacks " + name);
    }
    return static_cast<std::string>(found->second);
  };
  return clean::parse_model(bytes_of("model.json"), "pickled", bytes_of);
}

} // namespace

void add_cleaning(py::module_ &module) {
  py::class_<clean::Model>(module, "Model")
      .def("probabilities", &probabilities)
      .def("files", &files_of)
      .def(py::pickle(&files_of, &model_of));
  module.def("clean", [](const py::dict &request) { return Job(request).run(); });
  module.def("report_page", [](const std::string &data) {
    if (!report::html_available()) {
      throw NotAvailable(std::string(report::html_unavailable_reason));
    }
    return report::html_page(report::parsed_json(data, "the report"));
  });
}

} // namespace duplex::python
