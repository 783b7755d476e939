import pytest

from hermes_backends import make_backend
from hermes_backends.contract import BackendContract


class TestSSH(BackendContract):
    huge = 64 << 20

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def daemon(cls, sshd):
        cls.server = sshd

    def open(self, **options):
        return make_backend(self.server.target, **self.server.options, **options)
