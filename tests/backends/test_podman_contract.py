import pytest

from hermes_backends import make_backend
from hermes_backends.contract import BackendContract


class TestPodman(BackendContract):
    huge = 64 << 20

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def daemon(cls, podman):
        cls.server = podman

    def open(self, **options):
        return make_backend(f"docker://{self.server.image}", base_url=self.server.url, **options)
