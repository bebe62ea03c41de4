"""What HyperCleaner needs of scikit-learn, where that is not there."""
import inspect

import numpy


class NotFittedError(ValueError, AttributeError):
    """It was asked before it was fitted."""


class BaseEstimator:
    """Parameters by name."""

    def get_params(self, deep=True):
        """The parameters of the constructor."""
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **parameters):
        """Sets parameters of the constructor."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r}, expected one of {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = inspect.signature(type(self).__init__).parameters
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name].default]
        return f"{type(self).__name__}({', '.join(given)})"


class ClassifierMixin:
    """A score."""

    def score(self, X, y):
        """The part of the rows that are predicted right."""
        return float(numpy.mean(self.predict(X) == numpy.asarray(y)))
