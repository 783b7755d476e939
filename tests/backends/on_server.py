"""The suite of all backends, for one whose other side is a server that a fixture starts."""

from __future__ import annotations

import pytest

from hermes_backends import make_backend
from hermes_backends.contract import BackendContract


class OnServer(BackendContract):
    huge = 64 << 20
    fixture: str

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def daemon(cls, request):
        cls.server = request.getfixturevalue(cls.fixture)

    def open(self, **options):
        return make_backend(self.server.target, **self.server.options, **options)
