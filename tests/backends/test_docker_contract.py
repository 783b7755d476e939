from .on_server import OnServer


class TestDocker(OnServer):
    fixture = "dockerd"
