// When calls ran, one above the other where they ran at once. Long waits are cut out, and marked where they were.
import { duration, h } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, LANE, MOST_LANES] = [1000, 12, 8];

function s(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Places for calls: their lane, and their time without the long waits. */
function laidOut(calls) {
  const sorted = [...calls].sort((a, b) => a.time - b.time);
  const busy = sorted.reduce((sum, call) => sum + call.seconds, 0);
  const longest = Math.max(0.05, busy / Math.max(4, sorted.length / 4));
  const lanes = [];
  const cuts = [];
  let skipped = 0;
  let reached = sorted[0]?.time ?? 0;
  const placed = sorted.map((call) => {
    if (call.time - reached > longest) {
      skipped += call.time - reached - longest;
      cuts.push(call.time - skipped - longest / 2);
    }
    reached = Math.max(reached, call.time + call.seconds);
    const start = call.time - skipped;
    let lane = lanes.findIndex((until) => until <= start);
    if (lane < 0) lane = lanes.length < MOST_LANES ? lanes.length : MOST_LANES - 1;
    lanes[lane] = start + call.seconds;
    return { call, start, end: start + call.seconds, lane };
  });
  return { placed, cuts, lanes: Math.max(1, lanes.length) };
}

export function timeline(onPick) {
  const element = h("div", { class: "hermes-timeline" });
  return {
    element,
    show(calls) {
      if (!calls.length) { element.replaceChildren(); return; }
      const { placed, cuts, lanes } = laidOut(calls);
      const first = placed[0].start;
      const last = Math.max(...placed.map((place) => place.end), first + 0.001);
      const x = (time) => ((time - first) / (last - first)) * (WIDTH - 6);
      const height = lanes * LANE;
      const bars = placed.map(({ call, start, end, lane }) => {
        const bar = s("rect", { x: x(start), y: lane * LANE + 1, width: Math.max(3, x(end) - x(start)), height: LANE - 2, rx: 2,
          class: "hermes-mark", "data-tone": call.tone }, s("title", {}, `${call.tool}: ${call.mark}, ${duration(call.seconds)}`));
        bar.addEventListener("click", () => onPick(call));
        return bar;
      });
      const marks = cuts.map((time) => s("line", { x1: x(time), x2: x(time), y1: 0, y2: height, class: "hermes-cut" }, s("title", {}, "a wait, cut out")));
      const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString();
      const end = Math.max(...placed.map(({ call }) => call.time + call.seconds));
      element.replaceChildren(
        s("svg", { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", height, role: "img",
          "aria-label": `Timeline of ${calls.length} calls` }, ...marks, ...bars),
        h("div", { class: "hermes-axis hermes-dim" }, h("span", {}, clock(placed[0].call.time)),
          h("span", {}, `${duration(placed.reduce((sum, place) => sum + place.call.seconds, 0))} of work`),
          h("span", {}, clock(end))));
    },
  };
}
