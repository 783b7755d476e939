// The card in the cell that waits.
import { frame } from "./dom.js";
import { mountDesk } from "./desk.js";

function render({ model, el }) {
  const root = frame("hermes-approval");
  el.append(root);
  return mountDesk(model, root);
}

export default { render };
