from hermes_backends import open_backend
from hermes_backends.contract import BackendContract


class TestLocal(BackendContract):
    huge = 64 << 20

    def open(self, **options):
        return open_backend("local", **options)
