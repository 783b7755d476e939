// The inbox: questions of calls that have no cell of their own.
import { mountDesk } from "./desk.js";
import { frame, h } from "./dom.js";
import { living } from "./living.js";

function render({ model, el }) {
  const waiting = h("span", { class: "hermes-dim" });
  const root = frame("hermes-inbox",
    h("header", { class: "hermes-bar" }, h("strong", {}, "Approval inbox"), waiting));
  el.append(root);
  return mountDesk(model, root, {
    onChange: (open) => { waiting.textContent = open ? `${open} waiting` : "nothing waiting"; },
  });
}

export default living(render);
