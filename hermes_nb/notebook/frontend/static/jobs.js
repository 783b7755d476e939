// Background jobs: asks for news while it is in sight, one question at a time.
import { duration, frame, h, listen } from "./dom.js";
import { living } from "./living.js";

const [EVERY, PATIENCE] = [700, 5000];

function render({ model, el }) {
  let chosen = null;
  let askedAt = -Infinity;
  let follow = true;
  const list = h("div", { class: "hermes-job-list", role: "listbox", "aria-label": "Background jobs" });
  const tail = h("pre", { class: "hermes-tail", tabindex: "0", "aria-label": "End of the output" });
  const problem = h("p", { class: "hermes-problem", role: "alert", hidden: true });
  const act = (kind, details = {}) => (event) => { if (event.isTrusted && chosen) model.send({ kind, job: chosen, ...details }); };
  const input = h("input", { type: "text", placeholder: "Write a line to its input", "aria-label": "Write to standard input", autocomplete: "off",
    onkeydown(event) {
      if (event.key !== "Enter" || !event.isTrusted || !chosen) return;
      model.send({ kind: "write", job: chosen, text: input.value });
      input.value = "";
    } });
  const controls = h("div", { class: "hermes-actions", hidden: true }, input,
    h("button", { type: "button", class: "hermes-button", onclick: act("end") }, "End input"),
    h("button", { type: "button", class: "hermes-button hermes-stop", onclick: act("stop") }, "Stop"));
  const root = frame("hermes-jobs", list, h("div", { class: "hermes-output" }, tail, problem, controls));

  function row(job) {
    return h("button", { type: "button", class: "hermes-job", role: "option", "aria-selected": String(job.job === chosen), dataset: { job: job.job },
      onclick: () => { chosen = job.job; follow = true; problem.hidden = true; ask(true); } },
      h("span", { class: "hermes-job-state", "data-tone": job.tone }, job.state), h("strong", {}, job.job),
      h("code", {}, job.command), h("span", { class: "hermes-dim", title: "since it was started" }, `${duration(job.age)} ago`));
  }

  function draw({ jobs, chosen: current, tail: text }) {
    askedAt = -Infinity;
    if (chosen === null && jobs.length) { chosen = jobs[jobs.length - 1].job; ask(true); }
    const focused = document.activeElement?.dataset?.job;
    list.replaceChildren(...(jobs.length ? jobs.map(row) : [h("p", { class: "hermes-dim hermes-empty" }, "No background jobs.")]));
    if (focused) list.querySelector(`[data-job="${CSS.escape(focused)}"]`)?.focus();
    if (current === chosen && tail.textContent !== text) {
      tail.textContent = text;
      if (follow) tail.scrollTop = tail.scrollHeight;
    }
    controls.hidden = jobs.find((job) => job.job === chosen)?.status !== "running";
    root.classList.add("hermes-ready");
  }

  function ask(now = false) {
    if (document.hidden || (!now && performance.now() - askedAt < PATIENCE)) return;
    askedAt = performance.now();
    model.send({ kind: "refresh", job: chosen });
  }

  tail.addEventListener("scroll", () => { follow = tail.scrollTop + tail.clientHeight >= tail.scrollHeight - 4; });
  const stopListening = listen(model, { jobs: draw, problem({ text }) { problem.textContent = text; problem.hidden = false; } });
  const timer = setInterval(ask, EVERY);
  el.append(root);
  ask(true);
  return () => { clearInterval(timer); stopListening(); };
}

export default living(render);
