"""Exceptions of a problem's functions, Ctrl-C, threads and processes that are forked off."""
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import warnings

import numpy
import pytest

import duplex


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Also where the tests run in the background of a script, whose programs ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class OwnError(Exception):
    pass


def innermost(y):
    raise OwnError("of mine")


def grad_y_that_raises(x, y):
    return innermost(y)


def test_an_exception_of_a_function_arrives_as_it_is_with_its_traceback(example):
    problem = example.problem(grad_y=grad_y_that_raises)
    for method in ({}, {"method": "bagdc", "alpha": 0.1, "beta": 0.1}, {"method": "cg", "alpha": 0.1}):
        with pytest.raises(OwnError, match="^of mine$") as caught:
            duplex.minimize(problem, *example.start(), **method)
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-2:] == ["grad_y_that_raises", "innermost"]
        assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_check_and_the_making_of_an_evaluation_let_exceptions_through(example):
    with pytest.raises(OwnError):
        duplex.check(example.problem(grad_y=grad_y_that_raises), *example.start())

    class Broken:
        def lower(self):
            raise OwnError("no level")

        upper = lower

    with pytest.raises(OwnError, match="no level"):
        duplex.minimize(Broken(), *example.start())


def test_an_exception_in_the_middle_leaves_the_state_of_before_the_step(example):
    calls = []

    def grad_y(x, y):
        calls.append(1)
        if len(calls) > 40:
            raise OwnError("enough")
        return example.a * y - x

    with pytest.raises(OwnError) as caught:
        duplex.minimize(
            example.problem(grad_y=grad_y), *example.start(), method="bagdc", alpha=0.01, beta=0.01, fused=False
        )
    result = caught.value.result
    assert result.termination == "interrupted"
    assert "OwnError ended the run at step" in result.message
    assert 0 < result.nit <= 40
    same = duplex.minimize(
        example.problem(), *example.start(), method="bagdc", alpha=0.01, beta=0.01, fused=False, iterations=result.nit
    )
    for name in "xyv":
        numpy.testing.assert_array_equal(result[name], same[name])
    again = duplex.minimize(example.problem(), result.x, result.y, v0=result.v)
    numpy.testing.assert_allclose(again.x, example.answer(), rtol=1e-4)


def test_an_exception_of_the_callback_arrives_too_and_stop_iteration_ends_the_run(example):
    def callback(progress):
        if progress["iteration"] == 3:
            raise OwnError("seen enough")

    steps = {"method": "bagdc", "alpha": 0.01, "beta": 0.1}
    with pytest.raises(OwnError, match="seen enough") as caught:
        duplex.minimize(example.problem(), *example.start(), callback=callback, **steps)
    assert caught.value.result.nit == 3

    def stop(progress):
        if progress["iteration"] == 4:
            raise StopIteration

    result = duplex.minimize(example.problem(), *example.start(), callback=stop, **steps)
    assert (result.termination, result.nit) == ("predicate", 4)
    result = duplex.minimize(
        example.problem(), *example.start(), callback=lambda progress: progress["iteration"] == 5, **steps
    )
    assert (result.termination, result.nit) == ("predicate", 5)


def test_an_exception_without_room_for_a_result_arrives_all_the_same(example):
    class Closed(Exception):
        __slots__ = ()

        def __setattr__(self, name, value):
            raise AttributeError(name)

    def grad_y(x, y):
        raise Closed

    with pytest.raises(Closed):
        duplex.minimize(example.problem(grad_y=grad_y), *example.start())


def test_ctrl_c_in_a_function_is_a_keyboard_interrupt_with_a_result(example):
    calls = []

    def grad_y(x, y):
        calls.append(1)
        if len(calls) == 30:
            os.kill(os.getpid(), signal.SIGINT)
        return example.a * y - x

    steps = {"method": "bagdc", "alpha": 1e-3, "beta": 1e-3, "iterations": 10**6}
    with pytest.raises(KeyboardInterrupt) as caught:
        duplex.minimize(example.problem(grad_y=grad_y), *example.start(), **steps)
    assert caught.value.result.termination == "interrupted"
    assert 0 < caught.value.result.nit <= 30
    assert duplex.minimize(example.problem(), *example.start()).success, "what comes after runs as ever"


ENDLESS = {"method": "bagdc", "alpha": 1e-9, "beta": 1e-9, "iterations": 10**15, "seconds": 100.0}


def test_ctrl_c_while_the_engine_alone_works_is_a_keyboard_interrupt_with_a_result(tmp_path):
    def interrupt_once_it_has_begun():
        while not (tmp_path / "run" / "manifest.json").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt_once_it_has_begun)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        duplex.minimize(duplex.problem("counter-example", n=50), out=tmp_path / "run", **ENDLESS)
    interrupter.join()
    assert caught.value.result.termination == "interrupted"
    assert (tmp_path / "run" / "checkpoint.dpx").exists()


def test_a_handler_of_ctrl_c_that_does_not_raise_ends_the_run_with_its_result():
    heard = []
    over = threading.Event()

    def interrupt_until_it_is_over():
        while not over.wait(0.05):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    interrupter = threading.Thread(target=interrupt_until_it_is_over)
    interrupter.start()
    try:
        result = duplex.minimize(duplex.problem("counter-example", n=50), **ENDLESS)
    finally:
        over.set()
        interrupter.join()
        signal.signal(signal.SIGINT, before)
    assert heard and result.termination == "interrupted"


def test_ctrl_c_ends_a_cleaning_and_leaves_the_estimator_to_be_fitted_again(noisy):
    X, given = noisy[:2]
    told = []

    class Impatient:
        """Progress that is asked to end at the first word."""

        def tell(self, what):
            told.append(what)
            os.kill(os.getpid(), signal.SIGINT)

    cleaner = duplex.HyperCleaner(model="linear")
    impatient = Impatient()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("duplex._cleaner._Progress.tell", impatient.tell, raising=False)
        patch.setattr("duplex._cleaner._Progress.__init__", lambda self, verbose: setattr(self, "bar", None))
        with pytest.raises(KeyboardInterrupt):
            cleaner.fit(X, given)
    assert told and not hasattr(cleaner, "classes_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cleaner.fit(X, given).score(X, given) > 0.5


def test_two_threads_with_two_runs_each_come_to_the_same_bits(example):
    alone = duplex.minimize(example.problem(), *example.start(), metrics=["kkt"])
    problem = example.problem()
    results = [None] * 4

    def run(place):
        results[place] = duplex.minimize(problem, *example.start(), metrics=["kkt"])

    threads = [threading.Thread(target=run, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        assert (result.x == alone.x).all() and result.counters == alone.counters


def test_another_thread_runs_while_the_engine_works():
    done = threading.Event()

    def stop(progress):
        return done.is_set()

    thread = threading.Timer(0.05, done.set)  # which could not run were the interpreter's lock held
    thread.start()
    result = duplex.minimize(
        duplex.problem("counter-example", n=20),
        method="bagdc",
        alpha=1e-9,
        beta=1e-9,
        iterations=10**12,
        callback=stop,
    )
    thread.join()
    assert result.termination == "predicate"


def _clean_in_child(queue):
    generator = numpy.random.default_rng(0)
    X = generator.normal(size=(400, 20)).astype(numpy.float32)
    y = (X[:, 0] > 0).astype(int)
    cleaner = duplex.HyperCleaner(threads=2).fit(X, y)
    queue.put(float(cleaner.trust_.sum()))


@pytest.mark.filterwarnings("ignore::duplex._cleaner.CleaningWarning", "ignore::DeprecationWarning")
def test_a_process_that_is_forked_off_after_use_does_the_same():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    _clean_in_child(queue)  # in this process, with threads
    here = queue.get(timeout=300)
    child = context.Process(target=_clean_in_child, args=(queue,))
    child.start()
    there = queue.get(timeout=300)
    child.join()
    assert child.exitcode == 0 and there == here


def test_a_run_does_not_outlive_an_interpreter_that_exits(tmp_path):
    script = textwrap.dedent(
        """
        import numpy, duplex
        problem = duplex.Problem(
            {"value": lambda x, y: 0.5 * y @ y - x @ y, "grad_y": lambda x, y: y - x,
             "hess_yy": lambda x, y, v: v, "cross_xy": lambda x, y, v: -v},
            {"value": lambda x, y: 0.5 * x @ x, "grad_x": lambda x, y: x, "grad_y": lambda x, y: 0 * y})
        result = duplex.minimize(problem, numpy.ones(2), numpy.ones(2))
        print(result.termination)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "tolerance verified\n"
