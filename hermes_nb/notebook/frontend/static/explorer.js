// Search as you type over a session's tools; the kernel ranks, the browser filters and draws.
import { mountDesk } from "./desk.js";
import { toolDetail } from "./detail.js";
import { count, frame, h, listen } from "./dom.js";
import { gauge } from "./gauge.js";
import { living } from "./living.js";
import { virtualList } from "./virtual.js";

const ROW_HEIGHT = 46;
const STATES = ["shown", "deferred", "unavailable"];
const PATIENCE = 600; // milliseconds until a busy kernel's ranking is replaced by the plain words

function picker(label, onchange) {
  const select = h("select", { "aria-label": label, onchange });
  return {
    element: select,
    get value() { return select.value; },
    fill(options) {
      const kept = select.value;
      select.replaceChildren(h("option", { value: "" }, label), ...options.map(([value, text]) => h("option", { value }, text)));
      if (options.some(([value]) => value === kept)) select.value = kept;
    },
  };
}

/** What becomes of a tool, in words: one that is built in is never deferred. */
const stateOf = (table, place) => {
  const state = STATES[table.state[place]];
  return state === "shown" && table.always[place] ? "always shown" : state;
};

const tally = (values) => values.reduce((sizes, value) => sizes.set(value, (sizes.get(value) ?? 0) + 1), new Map());

function render({ model, el }) {
  let table = null;
  let order = [];
  let shownQuery = "";
  let asked = null; // the query that the kernel works on
  let impatience = null;
  let detail = null;
  let runs = 0;
  let pressedAt = 0;

  const cost = gauge();
  const found = h("span", { class: "hermes-found hermes-dim", role: "status" }, "loading…");
  const search = h("input", { type: "search", class: "hermes-search", placeholder: "Search all tools by what they do", "aria-label": "Search tools",
    autocomplete: "off", spellcheck: "false" });
  const toolset = picker("All toolsets", filter);
  const source = picker("All sources", filter);
  const state = picker("All states", filter);
  const list = virtualList({ label: "Tools", rowHeight: ROW_HEIGHT, row, onPick: (place) => model.send({ kind: "describe", name: table.name[place] }) });
  const aside = h("div", { class: "hermes-aside" }, h("p", { class: "hermes-dim hermes-empty" }, "Choose a tool to see its schema and call it."));
  const desk = h("div", { class: "hermes-desk" });
  const root = frame("hermes-explorer",
    h("div", { class: "hermes-toolbar" }, search, toolset.element, source.element, state.element),
    h("div", { class: "hermes-bar" }, cost.element, found), desk,
    h("div", { class: "hermes-columns" }, list.element, aside));

  function row(place) {
    return [
      h("span", { class: "hermes-row-name" }, h("span", { class: "hermes-dot", "data-state": STATES[table.state[place]], title: stateOf(table, place) }),
        h("code", {}, table.name[place])),
      h("span", { class: "hermes-row-tokens" }, table.about_tokens + table.tokens[place].toLocaleString("en")),
      h("span", { class: "hermes-row-about" }, table.about[place]),
      h("span", { class: "hermes-row-set" }, table.toolsets[table.toolset[place]], stateOf(table, place) === "always shown" ? " · always shown" : null),
    ];
  }

  function filter() {
    const [set, from, is] = [toolset.value, source.value, state.value];
    const shown = order.filter((place) => (set === "" || table.toolset[place] === Number(set))
      && (from === "" || table.source[place] === from) && (is === "" || table.state[place] === Number(is)));
    list.show(shown);
    found.textContent = shown.length === table.name.length ? count(shown.length, "tool")
      : `${shown.length.toLocaleString("en")} of ${count(table.name.length, "tool")}`;
    root.dataset.query = shownQuery;
  }

  function byWords(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    order = table.name.map((_, place) => place)
      .filter((place) => words.every((word) => `${table.name[place]} ${table.about[place]}`.toLowerCase().includes(word)));
    filter();
    found.textContent += " by plain words: the kernel is busy";
  }

  function ask() {
    const query = search.value;
    if (asked !== null || query === shownQuery || table === null) return;
    asked = query;
    clearTimeout(impatience);
    impatience = setTimeout(() => byWords(search.value), PATIENCE);
    model.send({ kind: "search", query });
  }

  const stopListening = listen(model, {
    table(message) {
      table = message;
      const sizes = tally(table.toolset);
      toolset.fill(table.toolsets.map((name, number) => [String(number), `${name} (${sizes.get(number)})`]));
      source.fill([...tally(table.source)].map(([name, size]) => [name, `${name} (${size.toLocaleString("en")})`]));
      state.fill([...tally(table.state)].sort().map(([number, size]) => [String(number), `${STATES[number]} (${size.toLocaleString("en")})`]));
      cost.show(table.gauge, table.about_tokens);
      order = table.name.map((_, place) => place);
      shownQuery = "";
      filter();
      root.classList.add("hermes-ready");
      ask();
    },
    found(message) {
      clearTimeout(impatience);
      asked = null;
      shownQuery = message.query;
      order = message.order;
      filter();
      if (!message.ranked) found.textContent += ", by plain words";
      root.dataset.searchMs = (performance.now() - pressedAt).toFixed(1);
      ask();
    },
    tool(message) {
      const place = table.name.indexOf(message.name);
      detail = toolDetail({ ...message, tokens: table.about_tokens + table.tokens[place].toLocaleString("en"), state: STATES[table.state[place]], says: stateOf(table, place) }, (name, args) => {
        runs += 1;
        model.send({ kind: "run", name, args, number: runs });
        return runs;
      });
      aside.replaceChildren(detail.element);
      aside.scrollTop = 0;
    },
    gone: ({ text }) => aside.replaceChildren(h("p", { class: "hermes-problem" }, text)),
    result: (message) => detail?.take(message),
  });
  search.addEventListener("input", () => { pressedAt = performance.now(); ask(); });
  search.addEventListener("keydown", (event) => {
    if (["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Enter"].includes(event.key)) list.press(event);
  });
  el.append(root);
  const stopDesk = mountDesk(model, desk, { latest: 1 });
  return () => { stopListening(); stopDesk(); list.stop(); clearTimeout(impatience); };
}

export default living(render);
