// One tool: what the model is told, a form to call it, what came back.
import { changes, duration, h } from "./dom.js";
import { python, schemaFields } from "./form.js";

async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy it from below";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

/** JSON indented, anything else as it is. */
function readable(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

function resultView(result) {
  const facts = [result.mark, duration(result.seconds), result.decision, ...result.notes].filter(Boolean).join(" · ");
  return [h("div", { class: "hermes-outcome", "data-tone": result.tone }, facts),
    result.edit.length ? changes(result.edit) : null,
    h("pre", { class: "hermes-result-text", tabindex: "0", "aria-label": "Result" }, readable(result.text)),
    result.traceback ? h("details", {}, h("summary", {}, "Where it was raised"), h("pre", { class: "hermes-source" }, result.traceback)) : null,
  ].filter(Boolean);
}

/** `run(name, args)` starts a call and returns its number. */
export function toolDetail(tool, run) {
  const form = schemaFields(tool.parameters);
  const output = h("div", { class: "hermes-result", "aria-live": "polite" });
  const problem = h("p", { class: "hermes-problem", role: "alert", hidden: true });
  const source = h("pre", { class: "hermes-source", hidden: true, tabindex: "0", "aria-label": "Code of this call" });
  let waiting = null;
  let byHand = -Infinity;

  const args = () => {
    problem.hidden = true;
    try {
      return form.read();
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
      return null;
    }
  };
  const copyAs = (write) => (event) => {
    const given = args();
    if (given === null) return;
    source.textContent = write(given);
    source.hidden = false;
    copy(source.textContent, event.currentTarget);
  };
  const submit = h("button", { type: "submit", class: "hermes-button hermes-primary", disabled: Boolean(tool.reason) }, "Run");
  const start = (event) => {
    event.preventDefault();
    if (performance.now() - byHand > 1000) return; // a script pressed it
    const given = args();
    if (given === null) return;
    submit.disabled = true;
    waiting = run(tool.name, given);
    output.replaceChildren(h("p", { class: "hermes-dim hermes-running" }, "running…"));
  };
  const touched = (event) => { if (event.isTrusted) byHand = performance.now(); };

  const element = h("article", { class: "hermes-tool", "aria-label": tool.name },
    h("h3", {}, tool.emoji ? `${tool.emoji} ` : null, h("code", {}, tool.name)),
    h("p", { class: "hermes-chips" },
      h("span", { class: "hermes-chip" }, tool.toolset),
      h("span", { class: "hermes-chip" }, `${tool.tokens} tokens`),
      h("span", { class: "hermes-chip", "data-state": tool.state }, tool.says),
      tool.guarded ? h("span", { class: "hermes-chip" }, "guarded") : null),
    tool.reason ? h("p", { class: "hermes-problem" }, `Not available: ${tool.reason}`)
      : tool.lacks ? h("p", { class: "hermes-dim" }, tool.lacks) : null,
    h("p", { class: "hermes-description" }, tool.description),
    h("form", { onsubmit: start, onclick: touched, onkeydown: touched }, form.elements,
      form.elements.length ? null : h("p", { class: "hermes-dim" }, "It takes no arguments."),
      problem,
      h("div", { class: "hermes-actions" }, submit,
        h("button", { type: "button", class: "hermes-button", onclick: copyAs((given) => `session.call(${JSON.stringify(tool.name)}, ${python(given)})`) }, "Copy as code"),
        h("button", { type: "button", class: "hermes-button", onclick: copyAs((given) => `%hermes call ${tool.name} ${JSON.stringify(given)}`) }, "Copy as magic"))),
    source, output,
    h("details", {}, h("summary", {}, "Schema"), h("pre", { class: "hermes-schema" }, JSON.stringify(tool.parameters, null, 2))));

  return {
    element,
    take(result) {
      if (result.number !== waiting) return;
      submit.disabled = Boolean(tool.reason);
      output.replaceChildren(...resultView(result));
      output.scrollIntoView({ block: "nearest" });
    },
  };
}
