"""What a run gives back."""


class Result(dict):
    """How a run ended: a dict whose entries are attributes too, like SciPy's OptimizeResult.

    - `x`, `y`, `v`: where it ended; v is the multiplier
    - `fun`: F(x, y) there; None where the run failed
    - `success`: a rule with a meaning was met; `failed`: the state is no result
    - `termination`: how it ended, in words; `status`: the same as a number
    - `message`: what happened, and what to try where the run failed
    - `explanation`: what a run that chooses its own steps has measured and chosen
    - `method`, `spec`: the method, and with all its options
    - `nit`, `seconds`, `direction_norm`, `recoveries`
    - `counters`: how often values, gradients and products were asked for
    - `metrics`: what was measured at the end
    - `trace`: what was measured on the way, a dict of arrays
    """

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __dir__(self):
        return sorted([*super().__dir__(), *self])

    def __repr__(self):
        width = max((len(name) for name in self), default=0)
        return "\n".join(f"{name:>{width}}: {_short(value)}" for name, value in self.items())


def _short(value):
    if isinstance(value, dict):
        return f"dict of {', '.join(value)}" if value else "{}"
    text = repr(value) if not isinstance(value, str) else value
    text = text.replace("\n", " ")
    return text if len(text) <= 100 else text[:97] + "..."
