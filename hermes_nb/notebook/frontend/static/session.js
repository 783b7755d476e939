// A whole session in one page: what was called, in order, found by words, tool and outcome, each call unfolding in place.
import { changes, count, duration, h } from "./dom.js";
import { timeline } from "./timeline.js";

const CHUNK = 200; // calls drawn at a time: the rest when they come near
const SPAN = 300; // calls in one stretch of the timeline

/** JSON indented, anything else as it is. */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // it was cut
  }
}

function unfolded(call) {
  const fact = (name, value) => (value ? [h("dt", {}, name), h("dd", {}, value)] : null);
  return [
    h("dl", {}, fact("began", new Date(call.time * 1000).toLocaleString()), fact("took", duration(call.seconds)),
      fact("asked for", call.waited >= 1 ? duration(call.waited) : ""), fact("toolset", call.toolset),
      fact("ran on", [call.backend, call.cwd].filter(Boolean).join(" in ")), fact("decision", call.decision),
      fact("reason", call.reason), fact("found", call.rules), fact("written as", call.written),
      fact("inside", call.parent), fact("notes", call.notes.join("; ")), fact("whole result", call.spill)),
    call.edit.length ? changes(call.edit) : null,
    h("h4", {}, "Arguments"), h("pre", {}, indented(call.args)),
    h("h4", {}, "What the model read"), h("pre", {}, indented(call.text)),
  ];
}

function folded(call, place) {
  const body = h("div", { class: "hermes-call" });
  const element = h("details", { class: "hermes-entry", id: `call-${place}` },
    h("summary", {},
      h("span", { class: "hermes-dim hermes-number" }, String(place + 1)),
      h("span", { class: "hermes-badge", "data-tone": call.tone }, call.mark),
      h("code", {}, call.tool), h("span", { class: "hermes-row-args" }, call.args),
      h("span", { class: "hermes-row-decision" }, call.decision),
      h("span", { class: "hermes-row-time" }, duration(call.seconds))), body);
  element.addEventListener("toggle", () => { if (element.open && !body.childElementCount) body.append(...unfolded(call).filter(Boolean)); });
  return element;
}

function choices(label, calls, key, onchange) {
  const sizes = new Map();
  for (const call of calls) sizes.set(call[key], (sizes.get(call[key]) ?? 0) + 1);
  const options = [...sizes].sort(([one], [other]) => (one < other ? -1 : 1));
  return h("select", { "aria-label": label, onchange }, h("option", { value: "" }, label),
    options.map(([name, size]) => h("option", { value: name }, `${name} (${size.toLocaleString("en")})`)));
}

function show(calls, root) {
  const words = h("input", { type: "search", class: "hermes-search", placeholder: "Search tools, arguments, results and decisions", "aria-label": "Search calls" });
  const tool = choices("All tools", calls, "tool", filter);
  const outcome = choices("All outcomes", calls, "outcome", filter);
  const tally = h("span", { class: "hermes-dim", role: "status" });
  const unfold = h("button", { type: "button", class: "hermes-button", onclick: () => foldAll(true) }, "Unfold");
  const fold = h("button", { type: "button", class: "hermes-button", onclick: () => foldAll(false) }, "Fold");
  const list = h("div", { class: "hermes-entries" });
  const end = h("div", { class: "hermes-end", "aria-hidden": "true" });
  const place = new Map(calls.map((call, number) => [call, number]));
  const haystacks = calls.map((call) => `${call.tool} ${call.args} ${call.text} ${call.decision} ${call.reason}`.toLowerCase());
  let found = calls;
  let drawn = 0;
  let from = 0;

  const times = timeline(goTo);
  const stretch = h("span", { class: "hermes-dim" });
  const earlier = h("button", { type: "button", class: "hermes-button", onclick: () => move(from - SPAN) }, "Earlier");
  const later = h("button", { type: "button", class: "hermes-button", onclick: () => move(from + SPAN) }, "Later");
  const steps = h("div", { class: "hermes-bar hermes-steps" }, earlier, stretch, later);

  function move(start) {
    from = Math.max(0, Math.min(start, found.length - 1));
    times.show(found.slice(from, from + SPAN));
    steps.hidden = found.length <= SPAN;
    earlier.disabled = from === 0;
    later.disabled = from + SPAN >= found.length;
    stretch.textContent = `calls ${from + 1} to ${Math.min(found.length, from + SPAN)} of ${found.length.toLocaleString("en")}`;
  }

  function drawUntil(last) {
    const until = Math.min(found.length, Math.max(last, drawn + CHUNK));
    const rows = document.createDocumentFragment();
    for (; drawn < until; drawn += 1) rows.append(folded(found[drawn], place.get(found[drawn])));
    list.append(rows);
  }

  function goTo(call) {
    drawUntil(found.indexOf(call) + 1);
    const element = document.getElementById(`call-${place.get(call)}`);
    element.open = true;
    element.scrollIntoView({ block: "center" });
    element.firstElementChild.focus();
  }

  function foldAll(open) {
    for (const entry of list.children) entry.open = open;
  }

  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = calls.filter((call, number) => (tool.value === "" || call.tool === tool.value)
      && (outcome.value === "" || call.outcome === outcome.value) && wanted.every((word) => haystacks[number].includes(word)));
    drawn = 0;
    list.replaceChildren();
    drawUntil(CHUNK);
    move(0);
    tally.textContent = found.length === calls.length ? count(calls.length, "call") : `${found.length.toLocaleString("en")} of ${count(calls.length, "call")}`;
  }

  words.addEventListener("input", filter);
  // A margin, so that what is next is there before it is looked for; looked at again as long as the end is still near.
  const nearing = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting || drawn >= found.length) return;
    drawUntil(0);
    nearing.unobserve(end);
    nearing.observe(end);
  }, { rootMargin: "1000px" });
  root.append(h("details", { class: "hermes-part", open: true }, h("summary", {}, h("h2", {}, "Timeline")), times.element, steps),
    h("section", { class: "hermes-part" }, h("div", { class: "hermes-toolbar" }, words, tool, outcome, tally, unfold, fold), list, end));
  filter();
  nearing.observe(end);
}

function themes(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const paint = () => {
    const theme = chosen ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    paint();
  });
  dark.addEventListener("change", paint);
  paint();
}

themes(document.getElementById("theme"));
show(JSON.parse(document.getElementById("calls").textContent), document.getElementById("session"));
document.documentElement.dataset.ready = "true";
