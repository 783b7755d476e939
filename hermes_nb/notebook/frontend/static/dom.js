// Small help to build elements. Text only ever becomes text: nothing here parses HTML.

/** An element with attributes, listeners (onclick: …) and children (nodes or texts; null and false are left out). */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name in element && name !== "list" && name !== "role" && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** The outermost element of a widget: keys pressed in it are meant for it, not for the notebook around it. */
export function frame(name, ...children) {
  const stay = (event) => event.stopPropagation();
  return h("div", { class: `hermes ${name}`, "data-lm-suppress-shortcuts": "true", onkeydown: stay }, ...children);
}

/** Say something again and again, because the first words may wait behind a running cell; returns a way to stop. */
export function repeat(say, every = 200, atMost = 150) {
  let said = 1;
  say();
  const timer = setInterval(() => {
    say();
    said += 1;
    if (said >= atMost) clearInterval(timer); // there is no kernel any more
  }, every);
  return () => clearInterval(timer);
}

/** Listen to the kernel's messages by kind; returns a way to stop. Large data come beside a message, as JSON bytes. */
export function listen(model, listeners) {
  const hear = (message, buffers) => {
    const large = buffers?.length ? JSON.parse(new TextDecoder().decode(buffers[0])) : {};
    listeners[message.kind]?.({ ...message, ...large });
  };
  model.on("msg:custom", hear);
  return () => model.off("msg:custom", hear);
}

let counted = 0;
/** An id that no other element has. */
export function uniqueId(prefix) {
  counted += 1;
  return `hermes-${prefix}-${counted}-${Math.random().toString(36).slice(2, 8)}`;
}

/** What an approver changed of a call: the old struck out, the new below it. */
export function changes(lines) {
  const names = { "-": "del", "+": "ins", " ": "span" };
  const line = ([sign, text], at) => { // neither the sign nor the space before the words is struck out
    const words = text.trimStart();
    return [at ? "\n" : null, h("span", { "data-sign": sign }, `${sign} `, text.slice(0, text.length - words.length), h(names[sign], {}, words))];
  };
  return h("pre", { class: "hermes-changes" }, lines.map(line));
}

export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

export function duration(seconds) {
  if (seconds < 0.0095) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
