"""Builds the module of the package by CMake: in the folder that DUPLEX_BUILD names, where there is one built already."""
import os
import pathlib
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent
BUILD = pathlib.Path(os.environ.get("DUPLEX_BUILD", SOURCE / "build-python")).resolve()


def version():
    return re.search(r"project\(duplex VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def egg_base():
    folder = BUILD / "python-package" / "egg"
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


class BuildByCMake(build_ext):
    """The one extension, installed by CMake with the libraries that it needs besides the system's."""

    def run(self):
        if not (BUILD / "CMakeCache.txt").exists():
            self.configure()
        self.cmake("--build", BUILD, "--target", "duplex_python")
        into = pathlib.Path(self.build_lib).resolve()
        self.cmake("--install", BUILD, "--component", "python", "--strip", "--prefix", into)
        for library in (into / "duplex" / "_libs").iterdir():
            if library.is_symlink():  # which a wheel cannot hold: the name that is looked for is enough
                library.resolve().replace(library)

    def configure(self):
        self.cmake(
            "--preset",
            "release",
            "-B",
            BUILD,
            "-DDUPLEX_BUILD_TOOL=OFF",
            "-DDUPLEX_BUILD_TESTS=OFF",
            "-DDUPLEX_WITH_TORCH=OFF",
            "-DDUPLEX_WERROR=OFF",
            "-DDUPLEX_WITH_PYTHON=ON",
            f"-DPython_EXECUTABLE={sys.executable}",
        )

    @staticmethod
    def cmake(*arguments):
        subprocess.run(["cmake", *map(str, arguments)], cwd=SOURCE, check=True)


setup(
    version=version(),
    packages=["duplex"],
    package_data={"duplex": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("duplex._core", sources=[])],
    cmdclass={"build_ext": BuildByCMake},
    options={"build": {"build_base": str(BUILD / "python-package")}, "egg_info": {"egg_base": egg_base()}},
    zip_safe=False,
)
