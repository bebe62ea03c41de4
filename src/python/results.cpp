#include "python/results.hpp"

#include "python/vectors.hpp"

#include <pybind11/stl.h>

#include <cstdint>

namespace duplex::python {

namespace {

using experiment::Series;

py::dict counters_dict(const Counters &counters) {
  py::dict out;
  out["values"] = counters.values;
  out["gradients"] = counters.gradients;
  out["hessian_products"] = counters.hessian_products;
  out["cross_products"] = counters.cross_products;
  out["lower_passes"] = counters.lower_passes;
  out["upper_passes"] = counters.upper_passes;
  return out;
}

template <class T> py::array_t<T> column_of(const std::vector<TraceRow> &rows, const auto &value) {
  py::array_t<T> out(static_cast<py::ssize_t>(rows.size()));
  T *entry = out.mutable_data();
  for (const auto &row : rows) {
    *entry++ = static_cast<T>(value(row));
  }
  return out;
}

py::dict trace_dict(const Series &series) {
  py::dict out;
  const auto &rows = series.rows;
  out["iteration"] = column_of<std::int64_t>(rows, [](const TraceRow &row) { return row.iteration; });
  out["seconds"] = column_of<double>(rows, [](const TraceRow &row) { return row.seconds; });
  out["direction_norm"] = column_of<double>(rows, [](const TraceRow &row) { return row.direction_norm; });
  out["alpha"] = column_of<double>(rows, [](const TraceRow &row) { return row.steps.alpha; });
  out["beta"] = column_of<double>(rows, [](const TraceRow &row) { return row.steps.beta; });
  out["eta"] = column_of<double>(rows, [](const TraceRow &row) { return row.steps.eta; });
  for (std::size_t i = 0; i < series.metric_names.size(); ++i) {
    if (series.metric_names[i] != "direction") {
      out[py::str(series.metric_names[i])] =
          column_of<double>(rows, [i](const TraceRow &row) { return row.metrics[i]; });
    }
  }
  return out;
}

} // namespace

py::dict series_dict(const Series &series) {
  const Summary &summary = series.summary;
  py::dict out;
  out["x"] = array_of(series.state.x);
  out["y"] = array_of(series.state.y);
  out["v"] = array_of(series.state.v);
  out["method"] = summary.solver;
  out["spec"] = series.solver;
  out["termination"] = std::string(name_of(summary.termination));
  out["status"] = static_cast<int>(summary.termination);
  out["success"] = summary.converged();
  out["failed"] = summary.failed();
  out["message"] = summary.message;
  out["explanation"] = summary.explanation;
  out["brief"] = summary.brief();
  out["recoveries"] = summary.recoveries;
  out["nit"] = summary.iterations;
  out["seconds"] = summary.seconds;
  out["direction_norm"] = summary.direction_norm;
  out["counters"] = counters_dict(summary.counters);
  py::dict metrics;
  for (const auto *list : {&summary.metrics, &series.extra}) {
    for (const auto &[name, value] : *list) {
      if (name != "direction") {
        metrics[py::str(name)] = value;
      }
    }
  }
  out["metrics"] = metrics;
  out["trace"] = trace_dict(series);
  return out;
}

py::dict report_dict(const CheckReport &report) {
  py::list rows;
  for (const auto &row : report.rows) {
    py::dict out;
    out["derivative"] = row.quantity;
    out["error"] = row.error;
    out["passes"] = row.passes;
    out["note"] = row.note;
    out["unchecked"] = row.unchecked;
    rows.append(out);
  }
  py::dict out;
  out["rows"] = rows;
  out["tolerance"] = report.tolerance;
  out["passes"] = report.passes();
  out["is_wrong"] = report.is_wrong();
  out["table"] = report.table();
  return out;
}

} // namespace duplex::python
