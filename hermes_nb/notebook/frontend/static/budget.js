// The kernel draws the picture; here toolsets are switched off and on to see what that would change.
import { count, frame, h, listen, repeat } from "./dom.js";
import { living } from "./living.js";

function render({ model, el }) {
  const removed = new Set();
  const picture = h("div", { class: "hermes-picture" });
  const sentence = h("p", { class: "hermes-sentence", role: "status" });
  const rows = h("div", { class: "hermes-sets", role: "group", "aria-label": "Toolsets: switch one off to see what changes" });
  const root = frame("hermes-budget", picture, sentence, rows);

  function toggle(name) {
    if (!removed.delete(name)) removed.add(name);
    model.send({ kind: "without", toolsets: [...removed] });
  }

  function row(set, about) {
    return h("label", { class: "hermes-set", title: `${set.name}: ${count(set.tools, "tool")}` },
      h("input", { type: "checkbox", checked: set.present, onchange: () => toggle(set.name) }),
      h("span", { class: "hermes-swatch", style: `background:${set.colour}` }),
      h("span", { class: "hermes-set-name" }, set.name),
      h("span", { class: "hermes-set-share", "aria-hidden": "true" }, h("span", { style: `width:${100 * set.share}%;background:${set.colour}` })),
      h("span", { class: "hermes-dim" }, about + set.tokens.toLocaleString("en")));
  }

  function draw(message) {
    // The kernel's own drawing, with every name in it escaped; parsed as an image, it runs nothing.
    const drawing = new DOMParser().parseFromString(message.svg, "image/svg+xml").documentElement;
    picture.replaceChildren(document.importNode(drawing, true));
    sentence.textContent = message.sentence;
    const focused = rows.contains(document.activeElement) ? [...rows.querySelectorAll("input")].indexOf(document.activeElement) : -1;
    rows.replaceChildren(...message.toolsets.map((set) => row(set, message.about)));
    if (focused >= 0) rows.querySelectorAll("input")[focused]?.focus();
    root.classList.add("hermes-ready");
  }

  const stopReady = repeat(() => model.send({ kind: "ready" }), 500);
  const stopListening = listen(model, { figure(message) { stopReady(); draw(message); } });
  el.append(root);
  return () => { stopReady(); stopListening(); };
}

export default living(render);
