"""The conformance suite: what every backend must do, ours and other people's.

```python
from hermes_backends.contract import BackendContract

class TestMine(BackendContract):
    def open(self, **options): return MyBackend(**options)
```
It needs pytest, and bash, tar, grep and sleep on the other side. A slow backend may set `huge`, the size of the
largest output; HERMES_CONTRACT_HUGE=1 in the environment tries a gigabyte all the same.
"""

from .closing import ClosingContract
from .files import FileContract
from .jobs import JobContract
from .process import ProcessContract
from .shell import ShellContract

__all__ = ["BackendContract"]


class BackendContract(ProcessContract, ShellContract, JobContract, FileContract, ClosingContract):
    """All of it. Subclass it and give `open`."""
