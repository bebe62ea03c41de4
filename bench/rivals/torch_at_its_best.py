"""PyTorch at its best on this processor: import this before anything that loads OpenBLAS."""
import ctypes
import os
import statistics
import sys


def cpu_flags():
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


def choose_openblas_kernels():
    """OpenBLAS falls back to generic kernels on processors that it does not know."""
    flags = cpu_flags()
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    elif {"avx2", "fma"} <= flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")


choose_openblas_kernels()

try:
    import torch
except ImportError as error:
    packages = "python3-torch libopenblas0-pthread"
    sys.exit(f"PyTorch is missing in {sys.executable}: {error} (Debian: apt-get install {packages})")


def blas_files():
    with open("/proc/self/maps") as maps:
        return sorted({os.path.realpath(line.split()[-1]) for line in maps if "blas" in line})


def loaded_blas():
    return ", ".join(os.path.basename(file) for file in blas_files()) or "built in"


def set_threads(own, blas):
    """torch.set_num_threads leaves OpenBLAS's threads as they are."""
    torch.set_num_threads(own)
    for file in blas_files():
        if "openblas" in os.path.basename(file):
            ctypes.CDLL(file).openblas_set_num_threads(blas)


def thread_settings():
    """PyTorch's own threads and OpenBLAS's: one of all, all, and all where only BLAS has them."""
    cores = len(os.sched_getaffinity(0))
    return sorted({(1, 1), (1, cores), (cores, cores)})


def timing(seconds):
    """Of several runs' seconds per step."""
    return {
        "microseconds": statistics.median(seconds) * 1e6,
        "best_microseconds": min(seconds) * 1e6,
    }


def about_torch():
    return {
        "torch": torch.__version__,
        "blas": loaded_blas(),
        "openblas_coretype": os.environ.get("OPENBLAS_CORETYPE", ""),
    }
