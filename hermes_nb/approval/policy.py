"""Deciding on a call: the floor, the user's rules, the mode, what was approved before, and then a person.

The order is fixed, and every way out of it that isn't a clear yes is a no, with the reason:

1. The floor: what is catastrophic is refused, in every mode and on every backend.
2. ``approval.deny`` in the config refuses; ``approval.ask`` adds a reason to ask; ``approval.allow`` answers yes.
3. Nothing found: yes.
4. Mode ``off``, an earlier approval of every rule, or an isolated backend with ``approval.skip_when_isolated``: yes.
5. Mode ``smart``: a model may say yes or no; anything else it says goes on to the person.
6. The approver decides. Mode ``policy`` has none: no.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.approval.config_rules import Commands, covers, speaks_of
from hermes_nb.approval.decision import Approver, Decision, Request
from hermes_nb.errors import ConfigError

if TYPE_CHECKING:
    from hermes_nb.config import Config

logger = logging.getLogger(__name__)

#: A model that judges what was matched: approve, deny, or anything else to ask a person.
Judge = Callable[[Request], str]

#: Rules that stand for a shell, a wrapper or "can't tell": to remember one would approve any command inside of it.
NEVER_REMEMBERED = frozenset(
    {
        "decoded-code",
        "look-alike",
        "process-storm",
        "python-unparsable",
        "reverse-shell",
        "root-shell",
        "too-deep",
        "too-intricate",
        "undecidable",
        "unknown-code",
        "unparsable",
    }
)


@dataclass(frozen=True, slots=True)
class Approval:
    """A rule that was approved, and for how long."""

    rule: str
    lasts: Literal["session", "always"]
    backend: str | None = None


class Policy:
    """The decisions of one session: made here, remembered here, revoked here."""

    def __init__(self, config: Config, approver: Approver, judge: Judge | None = None) -> None:
        self.config = config
        self.approver = approver
        self.judge = judge
        self._has_rules = (-1, False)
        self._session_rules: frozenset[tuple[str, str]] = frozenset()
        self._asking = threading.RLock()  # one question at a time: two cards at once would be clicked at random

    def decide(
        self,
        request: Request,
        assessment: Assessment,
        *,
        isolated: Callable[[], bool] = lambda: False,
        asking: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Decision | None:
        """The decision on a call, or None where there was nothing to decide.

        Args:
            request: The call.
            assessment: What was found in it.
            isolated: Whether it would run where it can't touch this machine; asked only if that matters.
            asking: Entered while somebody is asked.
        """
        # Before anything that a config, a mode or an approval could say.
        floor = tuple(finding for finding in assessment.findings if finding.verdict == "block")
        if floor:
            reason = f"{'; '.join(finding.description for finding in floor)}: never allowed, in any mode"
            return Decision.deny(reason).by_whom("floor", assessment.findings)
        commands = Commands(assessment)
        denied = self._matching("deny", request, commands)
        if denied:
            return Decision.deny(f"the rule {denied!r} of approval.deny forbids it").by_whom("rule", request.findings)
        request = self._with_rules_that_ask(request, commands)
        if not request.findings:
            return None
        # After "ask", whose finding it must cover as well: to forbid or ask outweighs to allow.
        allowed = next((rule for rule in self.config.get("approval.allow") if covers(rule, request)), None)
        if allowed:
            return Decision.once(f"the rule {allowed!r} of approval.allow").by_whom("rule", request.findings)
        return (
            self._without_asking(request)
            or self._by_isolation(request, isolated)
            or self._by_judge(request, asking)
            or self._by_approver(request, asking)
        )

    @property
    def has_rules(self) -> bool:
        """Whether the config has rules that every call must be held against.

        A tool without a guard is then still shown to the policy. Asked at every call, so the answer is kept until the
        config changes.
        """
        generation, answer = self._has_rules
        if generation != self.config.generation:
            answer = any(self.config.get(f"approval.{kind}") for kind in ("allow", "ask", "deny"))
            self._has_rules = (self.config.generation, answer)
        return answer

    def __iter__(self) -> Iterator[Approval]:
        for rule, backend in sorted(self._session_rules):
            yield Approval(rule, "session", backend)
        for rule in self.config.get("command_allowlist"):
            yield Approval(rule, "always")

    def revoke(self, rule: str) -> bool:
        """Forget every approval of a rule, for the session and for good; whether there was one."""
        kept = frozenset(entry for entry in self._session_rules if entry[0] != rule)
        listed = self._listed()
        changed = kept != self._session_rules or rule in listed
        self._session_rules = kept
        if rule in listed:
            self.config.set("command_allowlist", [entry for entry in listed if entry != rule])
        return changed

    def _listed(self) -> list[str]:
        """The rules approved for good: also those that other sessions have written since the config was read."""
        from hermes_nb.config import Config

        listed = list(self.config.get("command_allowlist"))
        on_disk = Config.load(self.config.path).get("command_allowlist") if self.config.path is not None else ()
        return listed + [rule for rule in on_disk if rule not in listed]

    def _matching(self, kind: str, request: Request, commands: Commands) -> str | None:
        return next((rule for rule in self.config.get(f"approval.{kind}") if speaks_of(rule, request, commands)), None)

    def _with_rules_that_ask(self, request: Request, commands: Commands) -> Request:
        rule = self._matching("ask", request, commands)
        if rule is None:
            return request
        finding = Finding(f"config:{rule}", f"the rule {rule!r} of approval.ask", request.subject)
        return replace(request, findings=(*request.findings, finding))

    def _without_asking(self, request: Request) -> Decision | None:
        if self.config.get("approval.mode") == "off":
            return Decision.once("approval.mode is off").by_whom("mode", request.findings)
        if self._is_remembered(request):
            return Decision.session("approved before").by_whom("remembered", request.findings)
        return None

    def _by_isolation(self, request: Request, isolated: Callable[[], bool]) -> Decision | None:
        # To know it may mean to open the backend: never while others wait for their question.
        if self.config.get("approval.skip_when_isolated") and _holds(isolated):
            return Decision.once(f"{request.backend} is isolated").by_whom("isolation", request.findings)
        return None

    def _is_remembered(self, request: Request) -> bool:
        # Every finding must have been approved; an approval for good holds anywhere, one for the session on its
        # backend. The config is a file that anybody may have written "unparsable" into: that doesn't count.
        always = set(self.config.get("command_allowlist")) - NEVER_REMEMBERED
        return all(
            finding.rule in always or (finding.rule, request.backend) in self._session_rules
            for finding in request.findings
        )

    def _by_judge(self, request: Request, asking: Callable[[], AbstractContextManager[None]]) -> Decision | None:
        if self.config.get("approval.mode") != "smart" or self.judge is None:
            return None
        try:
            with asking():
                verdict = str(self.judge(request)).strip().lower()
        except Exception:
            logger.exception("the judging model failed; a person is asked")
            return None
        if verdict == "approve":
            return Decision.once("the judging model approved it").by_whom("model", request.findings)
        if verdict == "deny":
            return Decision.deny("the judging model refused it").by_whom("model", request.findings)
        return None

    def _by_approver(self, request: Request, asking: Callable[[], AbstractContextManager[None]]) -> Decision:
        if self.config.get("approval.mode") == "policy":
            reason = f"{_reasons(request)}; approval.mode is policy, so nobody is asked"
            return Decision.deny(reason).by_whom("mode", request.findings)
        with asking(), self._asking:
            # While this call waited for its turn, an answer to another one may have covered it.
            decided = self._without_asking(request)
            if decided is not None:
                return decided
            decision = _asked(self.approver, request)
            # An edited command is assessed anew and asked about by what it is then: there's nothing to remember of
            # this one.
            if decision.choice in ("session", "always") and decision.args is None:
                decision = self._remember(decision, request)
        return decision.by_whom(decision.by, request.findings)

    def _remember(self, decision: Decision, request: Request) -> Decision:
        rules = {finding.rule for finding in request.findings}
        if rules & NEVER_REMEMBERED:
            return replace(decision, choice="once", reason="what can't be told apart is approved once at a time")
        self._session_rules |= {(rule, request.backend) for rule in rules}
        if decision.choice == "always":
            listed = self._listed()
            try:
                self.config.set("command_allowlist", [*listed, *sorted(rules - set(listed))])
            except (ConfigError, OSError) as error:
                # The person said yes: the call runs, but the promise is no greater than what was kept.
                logger.warning("approved for this session only: %s", error)
                return replace(decision, choice="session", reason=f"for this session only: {error}")
        return decision


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except Exception:
        logger.exception("it can't be told whether the backend is isolated; it counts as not isolated")
        return False


def _asked(approver: Approver, request: Request) -> Decision:
    try:
        decision: object = approver.decide(request)
    except (Exception, SystemExit) as error:
        # Not an interrupt: who presses Ctrl-C at the question wants all of it to stop.
        logger.exception("the approver failed; the call is denied")
        return Decision.deny(f"{_reasons(request)}; the approver failed: {type(error).__name__}: {error}")
    if not isinstance(decision, Decision):
        return Decision.deny(f"{_reasons(request)}; the approver answered {decision!r}, which is no Decision")
    if not decision.allowed and not decision.reason:
        return replace(decision, reason=_reasons(request))
    return decision


def _reasons(request: Request) -> str:
    return "; ".join(dict.fromkeys(finding.description for finding in request.findings))
