from .on_server import OnServer


class TestSSH(OnServer):
    fixture = "sshd"
