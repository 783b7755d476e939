"""The conformance suite: what every backend must do, ours and other people's.

```python
from hermes_backends.contract import BackendContract

class TestMine(BackendContract):
    def open(self, **options): return MyBackend(**options)
```
Give one that is not open yet (`MyBackend(…)`, or `make_backend`): the suite opens it, and tries what holds before that.
It needs pytest, and bash, tar, grep and sleep on the other side. A slow backend may set `huge`, the size of the
largest output; HERMES_CONTRACT_HUGE=1 in the environment tries a gigabyte all the same.
"""

from .closing import ClosingContract
from .files import FileContract
from .jobs import JobContract
from .opening import OpeningContract
from .process import ProcessContract
from .shell import ShellContract

__all__ = ["BackendContract"]


class BackendContract(OpeningContract, ProcessContract, ShellContract, JobContract, FileContract, ClosingContract):
    """All of it. Subclass it and give `open`."""
