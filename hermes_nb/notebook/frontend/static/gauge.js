// What the tools cost against the threshold from which they are deferred.
import { count, h } from "./dom.js";

export function gauge() {
  const bar = h("span", { class: "hermes-gauge-bar" });
  const track = h("span", { class: "hermes-gauge-track", role: "meter", "aria-label": "Deferrable tokens against the threshold" }, bar);
  const words = h("span", { class: "hermes-gauge-words" });
  const seen = h("span", { class: "hermes-dim" });
  const element = h("div", { class: "hermes-gauge" }, track, words, seen);
  return {
    element,
    show(cost, about) {
      const share = cost.threshold ? cost.deferrable / cost.threshold : 0;
      bar.style.width = `${Math.min(100, 100 * share)}%`;
      element.classList.toggle("hermes-over", cost.active);
      track.setAttribute("aria-valuemin", "0");
      track.setAttribute("aria-valuemax", String(cost.threshold));
      track.setAttribute("aria-valuenow", String(Math.min(cost.deferrable, cost.threshold)));
      track.setAttribute("aria-valuetext", `${cost.deferrable} of ${cost.threshold} tokens`);
      words.textContent = cost.active
        ? `≈ ${count(cost.deferrable, "token")} of tools, over the threshold of ${cost.threshold.toLocaleString("en")}`
        : `≈ ${cost.deferrable.toLocaleString("en")} of ${cost.threshold.toLocaleString("en")} tokens until tools are deferred`;
      if (cost.mode !== "auto") words.textContent = `≈ ${count(cost.deferrable, "deferrable token")}; tool search is ${cost.mode}`;
      seen.textContent = `The model sees ${count(cost.seen, "tool")}, ${about}${count(cost.seen_tokens, "token")}`
        + (cost.active ? `; ${cost.deferred.toLocaleString("en")} are deferred behind tool_search` : "; nothing is deferred");
    },
  };
}
