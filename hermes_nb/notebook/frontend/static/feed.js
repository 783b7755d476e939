// A session's calls as they begin and end, the newest first.
import { changes, count, duration, frame, h, listen, repeat } from "./dom.js";
import { living } from "./living.js";
import { timeline } from "./timeline.js";
import { virtualList } from "./virtual.js";

const [ROW_HEIGHT, KEPT, DRAWN] = [30, 500, 150];

const took = (call) => (call.tone === "running" ? "…" : duration(call.seconds));

function details(call) {
  const line = (name, value) => (value ? [h("dt", {}, name), h("dd", {}, value)] : null);
  return h("article", { class: "hermes-call" },
    h("h3", {}, h("code", {}, call.tool), h("span", { class: "hermes-badge", "data-tone": call.tone }, call.mark)),
    call.edit.length ? changes(call.edit) : null,
    h("dl", {}, line("toolset", call.toolset), line("ran on", call.backend), line("took", took(call)),
      line("began", new Date(call.time * 1000).toLocaleString()), line("decision", call.decision), line("reason", call.reason),
      line("written as", call.written), line("notes", call.notes.join("; ")), line("whole result", call.spill),
      line("asked for", call.waited >= 1 ? duration(call.waited) : "")),
    h("h4", {}, "Arguments"), h("pre", {}, call.args), h("h4", {}, "What the model read"), h("pre", {}, call.text));
}

function render({ model, el }) {
  let calls = [];
  const words = h("input", { type: "search", class: "hermes-search", placeholder: "Filter by tool, argument or result", "aria-label": "Filter calls", oninput: () => draw() });
  const outcome = h("select", { "aria-label": "Outcome", onchange: () => draw() });
  const tally = h("span", { class: "hermes-dim", role: "status" });
  const aside = h("div", { class: "hermes-aside" }, h("p", { class: "hermes-dim hermes-empty" }, "Choose a call to see its arguments and result."));
  let opened = null;
  const open = (call) => { opened = call; aside.replaceChildren(details(call)); };
  const list = virtualList({ label: "Calls, the newest first", rowHeight: ROW_HEIGHT, row, onPick: open });
  const times = timeline(open);
  const root = frame("hermes-feed",
    h("div", { class: "hermes-toolbar" }, words, outcome, h("span", { class: "hermes-live" }, "live"), tally),
    times.element, h("div", { class: "hermes-columns" }, list.element, aside));

  function row(call) {
    return [h("span", { class: "hermes-badge", "data-tone": call.tone }, call.mark),
      h("code", {}, call.tool), h("span", { class: "hermes-row-args" }, call.args),
      h("span", { class: "hermes-row-decision" }, call.decision), h("span", { class: "hermes-row-time" }, took(call))];
  }

  function draw(keepPlace = false) {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = calls.filter((call) => (outcome.value === "" || call.outcome === outcome.value)
      && wanted.every((word) => `${call.tool} ${call.args} ${call.text} ${call.decision}`.toLowerCase().includes(word)));
    list.show(shown, { keepPlace });
    times.show(shown.slice(0, DRAWN));
    tally.textContent = shown.length === calls.length ? count(calls.length, "call") : `${shown.length} of ${count(calls.length, "call")}`;
  }

  function outcomes() {
    const kept = outcome.value;
    const there = [...new Set(calls.map((call) => call.outcome))].sort();
    outcome.replaceChildren(h("option", { value: "" }, "All outcomes"), ...there.map((name) => h("option", { value: name }, name)));
    outcome.value = there.includes(kept) ? kept : "";
  }

  const stopReady = repeat(() => model.send({ kind: "ready" }), 500);
  const stopListening = listen(model, {
    calls(message) {
      stopReady();
      const fresh = [...message.rows].reverse();
      const known = new Set(fresh.map((call) => call.call));
      calls = (message.all ? fresh : [...fresh, ...calls.filter((call) => !known.has(call.call))]).slice(0, KEPT);
      const ended = calls.find((call) => opened?.tone === "running" && call.call === opened.call && call.tone !== "running");
      if (ended) open(ended);
      outcomes();
      draw(true);
      root.classList.add("hermes-ready");
    },
  });
  el.append(root);
  return () => { stopReady(); stopListening(); list.stop(); };
}

export default living(render);
