from .on_server import OnServer


class TestPodman(OnServer):
    fixture = "podman"
