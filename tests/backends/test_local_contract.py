from __future__ import annotations

import pytest

from hermes_backends import make_backend, open_backend
from hermes_backends.contract import BackendContract
from hermes_backends.local.landlock import abi

from .conftest import find, missing


class TestLocal(BackendContract):
    huge = 64 << 20

    def open(self, **options):
        return make_backend("local", **options)


class Confined(BackendContract):
    huge = 64 << 20
    isolation = ""

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def place(cls, tmp_path_factory):
        cls.folder = str(tmp_path_factory.mktemp("work"))

    def open(self, **options):
        return make_backend("local", isolation=self.isolation, **{"cwd": self.folder, **options})


class TestLandlock(Confined):
    isolation = "landlock"

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def kernel(cls):
        if abi() < 1:
            missing("this kernel has no Landlock")


class TestBubblewrap(Confined):
    isolation = "bubblewrap"

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def program(cls):
        find("bwrap")

    @pytest.fixture
    def watcher(self):
        """From outside: inside, each program sees its own processes only."""
        with open_backend("local") as outside:
            yield outside.shell()
