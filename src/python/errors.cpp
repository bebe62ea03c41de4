#include "python/errors.hpp"

#include <duplex/core/error.hpp>

#include <exception>

namespace duplex::python {

namespace py = pybind11;

namespace {

struct Errors {
  PyObject *invalid_input = nullptr; ///< as long as the process lives
  PyObject *not_available = nullptr;
  PyObject *out_of_memory = nullptr;
};

Errors &errors() {
  static Errors all;
  return all;
}

PyObject *add_error(py::module_ &module, const char *name, const char *full_name, const char *doc, PyObject *base) {
  PyObject *type = PyErr_NewExceptionWithDoc(full_name, doc, base, nullptr);
  if (type == nullptr) {
    throw py::error_already_set();
  }
  module.attr(name) = py::handle(type);
  return type;
}

} // namespace

void add_errors(py::module_ &module) {
  errors().invalid_input =
      add_error(module, "InvalidInput", "duplex.InvalidInput",
                "Anything that the caller can mend by calling again with other arguments.", PyExc_ValueError);
  errors().not_available =
      add_error(module, "NotAvailable", "duplex.NotAvailable",
                "What was asked for does not exist on this problem or in this build.", PyExc_RuntimeError);
  errors().out_of_memory =
      add_error(module, "OutOfMemory", "duplex.OutOfMemory",
                "What was asked for does not fit into the memory that there is.", PyExc_MemoryError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) {
        std::rethrow_exception(thrown);
      }
    } catch (const InvalidInput &error) {
      PyErr_SetString(errors().invalid_input, error.what());
    } catch (const NotAvailable &error) {
      PyErr_SetString(errors().not_available, error.what());
    } catch (const OutOfMemory &error) {
      PyErr_SetString(errors().out_of_memory, error.what());
    } catch (const Interrupted &error) {
      PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
    }
  });
}

void set_invalid_input(const std::string &sentence) { PyErr_SetString(errors().invalid_input, sentence.c_str()); }

} // namespace duplex::python
