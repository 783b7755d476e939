// A list that draws only the rows in sight, so that ten thousand cost what twenty do.
import { h, uniqueId } from "./dom.js";

/** `row(item)` gives a row's children; `onPick(item)` is called when one is chosen. */
export function virtualList({ label, rowHeight, row, onPick }) {
  let items = [];
  let active = -1;
  let picked = null;
  const id = uniqueId("list");
  const canvas = h("div", { class: "hermes-canvas" });
  const element = h("div", { class: "hermes-scroll", role: "listbox", tabindex: "0", "aria-label": label }, canvas);

  function draw() {
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - 4);
    const last = Math.min(items.length, first + Math.ceil((element.clientHeight || 400) / rowHeight) + 9);
    canvas.style.height = `${items.length * rowHeight}px`;
    const rows = [];
    for (let place = first; place < last; place += 1) {
      rows.push(h("div", { class: "hermes-row", role: "option", id: `${id}-${place}`, "aria-selected": String(items[place] === picked),
        "aria-setsize": String(items.length), "aria-posinset": String(place + 1), style: `top:${place * rowHeight}px`,
        "data-active": place === active, dataset: { place: String(place) } }, row(items[place])));
    }
    canvas.replaceChildren(...rows);
    if (active >= 0) element.setAttribute("aria-activedescendant", `${id}-${active}`);
    else element.removeAttribute("aria-activedescendant");
  }

  function pick(place) {
    if (place < 0 || place >= items.length) return;
    active = place;
    picked = items[place];
    draw();
    onPick(picked);
  }

  function move(place) {
    active = Math.max(0, Math.min(items.length - 1, place));
    const top = active * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
    draw();
  }

  const page = () => Math.max(1, Math.floor(element.clientHeight / rowHeight) - 1);
  const keys = {
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + page()),
    PageUp: () => move(active - page()),
    Home: () => move(0),
    End: () => move(items.length - 1),
    Enter: () => pick(active),
    " ": () => pick(active),
  };
  const press = (event) => {
    if (!keys[event.key] || !items.length) return;
    event.preventDefault();
    keys[event.key]();
  };
  element.addEventListener("keydown", press);
  element.addEventListener("scroll", draw);
  canvas.addEventListener("click", (event) => {
    const target = event.target.closest(".hermes-row");
    if (target) pick(Number(target.dataset.place));
  });
  const resized = new ResizeObserver(draw);
  resized.observe(element);

  return {
    element,
    /** Show other items, from the top; or, where they only grew, keep the reader's place. */
    show(list, { keepPlace = false } = {}) {
      const [reading, scrolled] = [items[active], element.scrollTop];
      const grown = items.length && scrolled ? Math.max(0, list.indexOf(items[0])) : 0;
      items = list;
      active = keepPlace && reading !== undefined ? list.indexOf(reading) : -1;
      canvas.style.height = `${items.length * rowHeight}px`;
      element.scrollTop = keepPlace ? scrolled + grown * rowHeight : 0;
      draw();
    },
    redraw: draw,
    press, // so that a search box can move through the list
    stop: () => resized.disconnect(),
  };
}
