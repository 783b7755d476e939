// A notebook outlives its kernel, so the output of a widget is its snapshot, and the living view stands before it.
import { h, listen, repeat } from "./dom.js";

const PLACE = "hermes-live";
const FLASH = 400; // milliseconds in which the kernel puts the snapshot where the widget's own output was
const AWAY = 60_000; // a cell that is scrolled out of sight may leave the page for a while

/** JupyterLab and Notebook 7, which let a kernel change an output: others show a widget's own output. */
const keepsSnapshots = () => document.getElementById("jupyter-config-data") !== null;

/** Have places say when they come into the page. All widgets of all kernels share them: they only give notice. */
function placesGiveNotice() {
  if (customElements.get(PLACE)) return;
  customElements.define(PLACE, class extends HTMLElement {
    connectedCallback() { document.dispatchEvent(new CustomEvent(PLACE, { detail: this })); }
  });
}

/** A widget's module, from the function that draws it. */
export function living(drawn) {
  return () => {
    let key = null;
    let answer;
    const isKept = new Promise((resolve) => { answer = resolve; });
    const views = new Map(); // by the output that they stand before

    function leave(output) {
      const { element, stop } = views.get(output);
      views.delete(output);
      stop();
      element.remove();
      output.style.display = "";
    }

    function moveIn(model, place) {
      const output = place.closest(".jp-OutputArea-output");
      if (output === null || key === null || place.dataset.key !== key || views.has(output)) return;
      const element = h("div", { class: "jp-OutputArea-output hermes-living" });
      output.after(element);
      output.style.display = "none";
      views.set(output, { element, stop: drawn({ model, el: element }) });
    }

    function initialize({ model, signal }) {
      if (!keepsSnapshots()) return;
      placesGiveNotice();
      const places = ({ detail }) => moveIn(model, detail);
      document.addEventListener(PLACE, places);
      const stopSaying = repeat(() => model.send({ kind: "here" }), 500);
      const stopListening = listen(model, {
        place(message) {
          stopSaying();
          answer(message.kept);
          key = message.key;
          for (const place of document.querySelectorAll(PLACE)) moveIn(model, place);
        },
      });
      const sweeping = setInterval(() => {
        for (const [output, view] of views) {
          if (view.element.isConnected) view.away = false;
          else if (view.away) leave(output);
          else view.away = true;
        }
      }, AWAY);
      const end = () => {
        key = null;
        clearInterval(sweeping);
        stopSaying();
        stopListening();
        document.removeEventListener(PLACE, places);
        for (const output of [...views.keys()]) leave(output);
      };
      model.on("comm_live_update", end); // the kernel was restarted: what it knew is in the snapshot
      signal?.addEventListener("abort", end);
    }

    function render({ model, el }) {
      if (!keepsSnapshots()) return drawn({ model, el });
      let stop = null;
      let isGone = false;
      const draw = () => { if (!isGone) stop ??= drawn({ model, el }); };
      const waiting = setTimeout(draw, FLASH);
      isKept.then((kept) => { if (!kept) draw(); }); // inside another widget: there is no output of its own
      return () => { isGone = true; clearTimeout(waiting); stop?.(); };
    }

    return { initialize, render };
  };
}
