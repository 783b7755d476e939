// Questions to a person, and the one line that stays of each.
import { changes, h, listen, repeat, uniqueId } from "./dom.js";

// A card that appears under a moving hand must not be answered by the click that was meant for something else.
const ARMED_AFTER = 400;

const word = (...pieces) => h("span", { class: "hermes-word" }, pieces);
const split = (text) => text.split(/(\s+)/).filter(Boolean);
const isSpace = (piece) => /^\s/.test(piece);

/** A text in words: lines break between them and not inside, also where what was found ends inside a word. */
function marked(question, parts) {
  const shown = [];
  let open = null; // a word that goes on in the next part
  parts.forEach(([text, finding], at) => {
    const mark = (...pieces) =>
      finding === null ? pieces : h("mark", { title: question.findings[finding].what }, pieces);
    const pieces = split(text);
    const goesOn = !isSpace(pieces.at(-1) ?? " ") && /^\S/.test(parts[at + 1]?.[0] ?? " ");
    if (open !== null && pieces.length && !isSpace(pieces[0])) open.append(...[mark(pieces.shift())].flat());
    if (pieces.length) open = null;
    const last = goesOn && pieces.length ? pieces.pop() : null;
    if (pieces.length) shown.push(mark(...pieces.map((piece) => (isSpace(piece) ? piece : word(piece)))));
    if (last !== null) shown.push((open = word(mark(last))));
  });
  return shown;
}

/** What its tool shows of a call: one text, and rows of names and values. */
function view(question) {
  return [
    question.parts.length
      ? h("pre", { class: "hermes-command", tabindex: "0", "aria-label": `What ${question.tool} would do` },
        marked(question, question.parts))
      : null,
    question.rows.length
      ? h("dl", { class: "hermes-rows" },
        question.rows.map(([name, parts]) => [h("dt", {}, name), h("dd", {}, marked(question, parts))]))
      : null,
  ];
}

function findings(question) {
  return h("ul", { class: "hermes-findings" },
    question.findings.map((finding) =>
      h("li", {}, h("span", {}, finding.what), finding.where ? [" ", h("code", {}, marked(question, [[finding.where, null]]))] : null)));
}

function countdown(question) {
  const label = h("span", { class: "hermes-remaining" });
  const bar = h("span", { class: "hermes-countdown-bar" });
  const element = h("div", { class: "hermes-countdown", role: "timer", "aria-live": "off" },
    h("span", { class: "hermes-countdown-track", "aria-hidden": "true" }, bar), label);
  const until = performance.now() + question.remaining * 1000;
  const tick = () => {
    const left = Math.max(0, (until - performance.now()) / 1000);
    const minutes = Math.floor(left / 60);
    label.textContent = `denied in ${minutes}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
    bar.style.width = `${(100 * left) / question.timeout}%`;
    element.classList.toggle("hermes-urgent", left < 15);
  };
  tick();
  const timer = setInterval(tick, 250);
  return { element, stop: () => clearInterval(timer) };
}

/** The card of one question; `send` gives a message to the kernel. */
function card(question, send) {
  const timer = countdown(question);
  let stopSaying = () => {};
  const problem = h("p", { class: "hermes-problem", role: "alert", hidden: true });
  const title = h("div", { class: "hermes-card-title", id: uniqueId("title") },
    h("span", { class: "hermes-shield", "aria-hidden": "true" }, "!"),
    h("span", {}, "Approval needed: ", h("strong", {}, question.title)));

  const answer = (details) => (event) => {
    if (!event.isTrusted) return; // a script's click is nobody's decision
    problem.hidden = true;
    element.classList.add("hermes-sent");
    for (const button of element.querySelectorAll("button")) button.disabled = true;
    const said = { kind: "answer", nonce: question.nonce, ...details() };
    stopSaying();
    stopSaying = repeat(() => send(said), 400);
  };
  const button = (text, name, onclick, extra = "") =>
    h("button", { type: "button", class: `hermes-button ${extra}`, "data-choice": name, disabled: true, onclick }, text);
  const choose = (choice) => answer(() => ({ choice }));

  const reason = h("input", { type: "text", class: "hermes-reason", placeholder: "Why not? The model reads it.",
    "aria-label": "Reason for denying", maxlength: "500" });
  const deny = answer(() => ({ choice: "deny", reason: reason.value }));
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter") deny(event);
    if (event.key === "Escape") swap(actions);
  });

  const text = h("textarea", { class: "hermes-edit", spellcheck: "false", rows: "3",
    "aria-label": question.edits ? `Edit ${question.edits}` : "Edit the arguments, as JSON" });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Escape") swap(actions);
  });

  const actions = h("div", { class: "hermes-actions" },
    button("Approve once", "once", choose("once"), "hermes-approve"),
    question.rememberable ? button("For this session", "session", choose("session")) : null,
    question.rememberable ? button("Always", "always", choose("always")) : null,
    button("Edit…", "edit", (event) => {
      if (event.isTrusted) send({ kind: "editable", nonce: question.nonce });
    }),
    button("Deny…", "deny", () => swap(denying), "hermes-deny"));
  const denying = h("div", { class: "hermes-actions", hidden: true }, reason,
    button("Deny", "deny-now", deny, "hermes-deny"), button("Back", "back", () => swap(actions)));
  const editing = h("div", { class: "hermes-actions", hidden: true }, text,
    button("Check and run", "run-edit", answer(() => ({ choice: "once", edited: text.value })), "hermes-approve"),
    button("Back", "back", () => swap(actions)));

  function swap(shown) {
    for (const row of [actions, denying, editing]) row.hidden = row !== shown;
    (shown.querySelector("input, textarea") ?? shown.querySelector("button")).focus();
  }
  function arm() {
    element.classList.remove("hermes-sent");
    for (const each of element.querySelectorAll("button")) each.disabled = false;
  }

  const where = question.cwd ? [h("span", { class: "hermes-dim" }, " in "), h("code", {}, question.cwd)] : null;
  const element = h("section", { class: "hermes-card", role: "group", "aria-labelledby": title.id },
    h("header", {}, title, timer.element),
    view(question), findings(question),
    h("p", { class: "hermes-where" }, h("span", { class: "hermes-dim" }, "runs on "), h("code", {}, question.backend), where),
    problem, actions, denying, editing);
  const arming = setTimeout(arm, ARMED_AFTER);
  const stopShowing = repeat(() => send({ kind: "shown", nonce: question.nonce }));

  return {
    element,
    noted: stopShowing,
    edit(content) {
      text.value = content;
      text.rows = Math.min(14, content.split("\n").length + 1);
      swap(editing);
    },
    complain(message) {
      stopSaying();
      problem.textContent = message;
      problem.hidden = false;
      arm();
    },
    close() {
      clearTimeout(arming);
      timer.stop();
      stopShowing();
      stopSaying();
      element.remove();
    },
  };
}

function recordLine(record) {
  return h("div", { class: `hermes-record ${record.allowed ? "hermes-allowed" : "hermes-denied"}` },
    h("span", { class: "hermes-record-mark", "aria-hidden": "true" }, record.allowed ? "✔" : "✘"),
    h("strong", {}, record.what), h("span", { class: "hermes-dim" }, record.tool),
    record.edit.length ? changes(record.edit) : h("code", {}, record.subject),
    record.reason ? h("span", { class: "hermes-record-reason" }, record.reason) : null);
}

/** Show a desk's questions and records in an element; returns a way to take them away. */
export function mountDesk(model, root, { latest = Infinity, onChange = () => {} } = {}) {
  const open = new Map();
  const cards = h("div", { class: "hermes-cards" });
  const announced = h("div", { class: "hermes-spoken", role: "status", "aria-live": "assertive" });
  const records = h("div", { class: "hermes-records" });
  const drawRecords = () => {
    const kept = model.get("records").slice(-latest);
    records.replaceChildren(...kept.map(recordLine));
    onChange(open.size, kept.length);
  };
  const send = (message) => model.send(message);
  const stopReady = repeat(() => send({ kind: "ready" }));
  const stopListening = listen(model, {
    ack: stopReady,
    ask({ question }) {
      stopReady();
      if (open.has(question.nonce)) return;
      const shown = card(question, send);
      open.set(question.nonce, shown);
      cards.append(shown.element);
      announced.textContent = `Approval needed: ${question.title}. ${question.findings.map((f) => f.what).join(". ")}`;
      onChange(open.size, records.children.length);
    },
    noted: ({ nonce }) => open.get(nonce)?.noted(),
    editable: ({ nonce, text }) => open.get(nonce)?.edit(text),
    problem: ({ nonce, text }) => open.get(nonce)?.complain(text),
    closed({ nonce }) {
      open.get(nonce)?.close();
      open.delete(nonce);
      announced.textContent = "";
      drawRecords();
    },
  });
  model.on("change:records", drawRecords);
  root.append(announced, cards, records);
  drawRecords();
  return () => {
    stopReady();
    stopListening();
    model.off("change:records", drawRecords);
    for (const shown of open.values()) shown.close();
  };
}
