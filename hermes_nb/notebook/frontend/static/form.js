// A form from a JSON schema. What has no good field of its own (oneOf, free objects) is written as JSON.
import { h, uniqueId } from "./dom.js";

const DEEPEST = 4;
const LONG_TEXTS = /^(command|content|code|text|body|script|old_string|new_string|patch|prompt|message|query)$/;

class FieldError extends Error {}

function resolved(schema, root) {
  let current = schema ?? {};
  for (let hops = 0; current.$ref?.startsWith("#/") && hops < 8; hops += 1) {
    const target = current.$ref.slice(2).split("/").reduce((part, key) => part?.[key.replace(/~1/g, "/").replace(/~0/g, "~")], root);
    current = { ...target, ...Object.fromEntries(Object.entries(current).filter(([key]) => key !== "$ref")) };
  }
  const variants = current.anyOf ?? current.oneOf;
  const real = variants?.filter((each) => each.type !== "null");
  if (variants && real.length === 1 && variants.length === 2) { // "this or null" is just an optional this
    const { anyOf, oneOf, ...rest } = current;
    return resolved({ ...rest, ...real[0] }, root);
  }
  if (Array.isArray(current.type)) {
    const types = current.type.filter((type) => type !== "null");
    return types.length === 1 ? { ...current, type: types[0] } : { ...current, type: undefined };
  }
  return current;
}

function limits(schema) {
  const low = schema.minimum ?? (schema.exclusiveMinimum !== undefined ? `>${schema.exclusiveMinimum}` : null);
  const high = schema.maximum ?? (schema.exclusiveMaximum !== undefined ? `<${schema.exclusiveMaximum}` : null);
  if (low === null && high === null) return "";
  if (low !== null && high !== null) return ` ${low} to ${high}`;
  return low !== null ? ` from ${low}` : ` to ${high}`;
}

function hint(schema) {
  if (schema.oneOf || schema.anyOf) return "one of several forms, as JSON";
  if (schema.enum) return "choice";
  return `${schema.type ?? "any"}${limits(schema)}`;
}

const shownDefault = (schema) => (schema.default === undefined || schema.default === null ? "" : `default: ${JSON.stringify(schema.default)}`);

function choiceField(id, schema, required) {
  const values = schema.enum ?? [true, false];
  const none = shownDefault(schema) || "not given";
  const select = h("select", { id, required, "aria-required": String(required) },
    h("option", { value: "" }, required ? "choose…" : none),
    values.map((value, place) => h("option", { value: String(place) }, typeof value === "string" ? value : JSON.stringify(value))));
  return { control: select, read: () => (select.value === "" ? undefined : values[Number(select.value)]) };
}

function numberField(id, schema, required) {
  const input = h("input", { id, type: "number", required, "aria-required": String(required),
    step: schema.type === "integer" ? "1" : "any", placeholder: shownDefault(schema),
    min: schema.minimum ?? schema.exclusiveMinimum, max: schema.maximum ?? schema.exclusiveMaximum });
  return { control: input, read: () => (input.value === "" ? undefined : Number(input.value)) };
}

function textField(id, schema, required, name) {
  const long = LONG_TEXTS.test(name) || (schema.maxLength ?? 0) > 200;
  const attributes = { id, required, "aria-required": String(required), placeholder: shownDefault(schema),
    minlength: schema.minLength, maxlength: schema.maxLength, spellcheck: "false", autocomplete: "off" };
  const input = long ? h("textarea", { ...attributes, rows: "2" }) : h("input", { ...attributes, type: "text", pattern: schema.pattern && `.*(?:${schema.pattern}).*` });
  return { control: input, read: () => (input.value === "" && !(required && schema.minLength === 0) ? undefined : input.value) };
}

function jsonField(id, schema, required) {
  const example = schema.type === "array" ? "[…]" : schema.type === "object" ? "{…}" : "JSON";
  const input = h("textarea", { id, required, "aria-required": String(required), rows: "2", spellcheck: "false",
    placeholder: shownDefault(schema) || example });
  const read = () => {
    if (input.value.trim() === "") return undefined;
    try {
      return JSON.parse(input.value);
    } catch (error) {
      input.focus();
      throw new FieldError(`not JSON: ${error.message}`);
    }
  };
  return { control: input, read };
}

function listField(id, schema, required, name, root, depth) {
  const rows = [];
  const list = h("div", { class: "hermes-list-rows" });
  const add = () => {
    const item = field(`${name} ${rows.length + 1}`, schema.items, true, root, depth + 1, true);
    const row = h("div", { class: "hermes-list-row" }, item.element,
      h("button", { type: "button", class: "hermes-button hermes-small", "aria-label": `Remove this one of ${name}`,
        onclick: () => { rows.splice(rows.indexOf(entry), 1); row.remove(); } }, "−"));
    const entry = { item };
    rows.push(entry);
    list.append(row);
    return row;
  };
  const control = h("div", { id, class: "hermes-list", role: "group", "aria-label": name }, list,
    h("button", { type: "button", class: "hermes-button hermes-small", "aria-label": `Add to ${name}`,
      onclick: () => add().querySelector("input, textarea, select")?.focus() }, "+ add"));
  return { control, read: () => (rows.length || required ? rows.map(({ item }) => item.read()).filter((value) => value !== undefined) : undefined) };
}

function groupField(schema, required, root, depth) {
  const inner = fields(schema, root, depth + 1);
  const control = h("fieldset", { class: "hermes-group" }, inner.elements);
  return { control, read: () => {
    const value = inner.read();
    return Object.keys(value).length || required ? value : undefined;
  } };
}

function controlFor(id, schema, required, name, root, depth) {
  if (schema.const !== undefined) return choiceField(id, { ...schema, enum: [schema.const] }, required);
  if (schema.enum || schema.type === "boolean") return choiceField(id, schema, required);
  if (schema.oneOf || schema.anyOf || schema.allOf) return jsonField(id, schema, required);
  if (schema.type === "integer" || schema.type === "number") return numberField(id, schema, required);
  if (schema.type === "string") return textField(id, schema, required, name);
  if (depth < DEEPEST && schema.type === "array" && schema.items && !Array.isArray(schema.items))
    return listField(id, schema, required, name, root, depth);
  if (depth < DEEPEST && schema.type === "object" && Object.keys(schema.properties ?? {}).length)
    return groupField(schema, required, root, depth);
  return jsonField(id, schema, required);
}

function field(name, given, required, root, depth, bare = false) {
  const schema = resolved(given, root);
  const id = uniqueId("field");
  const { control, read } = controlFor(id, schema, required, name, root, depth);
  const asked = () => {
    try {
      return read();
    } catch (error) {
      throw error instanceof FieldError && !error.field ? Object.assign(new FieldError(`${name}: ${error.message}`), { field: name }) : error;
    }
  };
  if (bare) {
    control.setAttribute("aria-label", name);
    return { element: control, read: asked };
  }
  const about = schema.description ? h("p", { class: "hermes-about", id: `${id}-about` }, schema.description) : null;
  if (about) control.setAttribute("aria-describedby", about.id);
  const element = h("div", { class: "hermes-field", "data-field": name },
    h("label", { for: id }, h("code", {}, name),
      required ? h("span", { class: "hermes-required", title: "required" }, " *") : null,
      h("span", { class: "hermes-dim" }, ` ${hint(schema)}`)),
    control, about);
  return { element, read: asked };
}

function fields(schema, root, depth) {
  const required = new Set(schema.required ?? []);
  const names = Object.keys(schema.properties ?? {}).sort((a, b) => required.has(b) - required.has(a));
  const built = names.map((name) => [name, field(name, schema.properties[name], required.has(name), root, depth)]);
  return {
    elements: built.map(([, one]) => one.element),
    read: () => Object.fromEntries(built.map(([name, one]) => [name, one.read()]).filter(([, value]) => value !== undefined)),
  };
}

/** Fields for an object schema, and `read`, which gives the arguments or throws with what is wrong. */
export function schemaFields(schema) {
  return fields(resolved(schema, schema), schema, 0);
}

/** JSON as Python writes it. */
export function python(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${python(item)}`).join(", ")}}`;
  return JSON.stringify(value);
}
