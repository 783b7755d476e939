"""``@tool``: a function declared as a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from hermes_nb.toolbox.declaration import ApprovalViewer, Guard, Parallel, Tool, Where, given
from hermes_nb.toolbox.registry import Registry
from hermes_nb.toolbox.registry import registry as process_registry
from hermes_nb.toolbox.signature import read_signature
from hermes_nb.toolbox.toolsets import as_names

if TYPE_CHECKING:
    from hermes_nb.context import Context
    from hermes_nb.toolbox.availability import Check

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def tool(function: Function) -> Function: ...


@overload
def tool(
    *,
    toolset: str = "notebook",
    registry: Registry | None = None,
    name: str | None = None,
    description: str | None = None,
    emoji: str = "",
    check_fn: Check | None = None,
    requires_env: Iterable[str] = (),
    max_result_size_chars: float | None = None,
    guard: Guard | None = None,
    approval_view: ApprovalViewer | None = None,
    parallel: Parallel = False,
    where: Where | None = None,
    keeps_deadline: bool = False,
    override: bool = False,
    deferrable: bool | None = None,
) -> Callable[[Function], Function]: ...


def tool(
    function: Function | None = None,
    *,
    toolset: str = "notebook",
    registry: Registry | None = None,
    name: str | None = None,
    description: str | None = None,
    emoji: str = "",
    check_fn: Check | None = None,
    requires_env: Iterable[str] = (),
    max_result_size_chars: float | None = None,
    guard: Guard | None = None,
    approval_view: ApprovalViewer | None = None,
    parallel: Parallel = False,
    where: Where | None = None,
    keeps_deadline: bool = False,
    override: bool = False,
    deferrable: bool | None = None,
) -> Function | Callable[[Function], Function]:
    """Declare a function as a tool; name, description and schema come from the function itself.

    The function stays an ordinary function. A parameter annotated with ``Context`` receives the call's context
    and is not shown to the model.

    Args:
        function: The function, when used as a bare ``@tool``.
        toolset: The toolset that the tool belongs to.
        registry: Where to register it; the process's own registry by default.
        name: A name other than the function's.
        description: A description other than the docstring's.
        emoji: Shown beside the tool's name.
        check_fn: Returns whether the tool can work now.
        requires_env: Environment variables without which the tool can't work.
        max_result_size_chars: A longer result is clipped, and kept whole in a file.
        guard: Looks at the arguments of a call and says what is dangerous about them.
        approval_view: Says what a person is shown of a call; by default all its arguments.
        parallel: Whether calls may run beside others, or a function that names the resources a call touches.
        where: Says where a call works, if its arguments decide that, so that a person is told the right place.
        keeps_deadline: Whether the function ends by itself at ``context.deadline``; else it is no longer waited for.
        override: Replace a tool of another toolset on purpose.
        deferrable: False keeps the tool in front of the model when tool search stands for others.

    Raises:
        RegistrationError: The function can't be a tool; the message says why.
    """
    target = registry if registry is not None else process_registry

    def declare(declared: Function) -> Function:
        signature = read_signature(declared)

        def handler(args: Mapping[str, Any], context: Context) -> Any:
            return declared(**signature.bind(args, context))

        target.add(
            Tool(
                name=name or signature.name,
                toolset=toolset,
                description=signature.description if description is None else description,
                parameters=signature.parameters,
                handler=handler,
                check_fn=check_fn,
                requires_env=as_names(requires_env),
                is_async=inspect.iscoroutinefunction(declared),
                emoji=emoji,
                max_result_size_chars=max_result_size_chars,
                guard=guard,
                approval_view=approval_view,
                parallel=parallel,
                where=where,
                keeps_deadline=keeps_deadline,
                **given(deferrable=deferrable),
            ),
            override=override,
        )
        return declared

    return declare(function) if function is not None else declare
