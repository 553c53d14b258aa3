// A JSON Schema as text, and as rows of a table of fields: reading, checking, printing, and the table's edits. Every
// edit returns a new schema and leaves alone what the table does not show. Knows no document.

/** The types that the table can set. What else a field may be stays as the JSON has it, and shows as `other`. */
export const TYPES = ["string", "integer", "number", "boolean", "strings"];
const WIDTH = 80;
const KEPT = ["title", "description"];

const string = (description) => ({ type: "string", description });

/** The built-in address task. */
export const ADDRESS = object(["province", "city", "district", "specific_location", "name", "phone"]);

/** A schema to begin with that is not the address task. */
export const INVOICE = {
  type: "object",
  properties: {
    seller: string("who wrote the invoice"),
    date: { type: "string", format: "date" },
    total: { type: "number" },
    items: { type: "array", items: { type: "string" } },
  },
  required: ["seller", "total"],
  additionalProperties: false,
};

function object(names) {
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: names,
    additionalProperties: false,
  };
}

/** The schema that a text is: `{schema}`, or `{error, values}` with a word for what is wrong. */
export function read(text) {
  let schema;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    return { error: "schemaNoJson", values: { reason: reason(error.message, text) } };
  }
  if (!isObject(schema)) return { error: "schemaNoObject", values: {} };
  if (schema.properties !== undefined) {
    if (!isObject(schema.properties)) return { error: "schemaProperties", values: {} };
    const wrong = Object.entries(schema.properties).find(([, field]) => !isObject(field) && typeof field !== "boolean");
    if (wrong) return { error: "schemaField", values: { name: wrong[0] } };
  }
  if (schema.required !== undefined) {
    const required = schema.required;
    if (!Array.isArray(required) || required.some((name) => typeof name !== "string"))
      return { error: "schemaRequired", values: {} };
  }
  return { schema };
}

/** The rows of the table: `{name, type, description, required}`. */
export function rows(schema) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    type: typeOf(field),
    description: typeof field.description === "string" ? field.description : "",
    required: required.has(name),
  }));
}

/** What is wrong with a new name for a row, if anything: a word. */
export function wrongName(schema, index, name) {
  if (!name.trim()) return "nameEmpty";
  return rows(schema).some((row, place) => place !== index && row.name === name) ? "nameTwice" : null;
}

/** With a row changed: any of `name`, `type`, `description`, `required`. A new type drops the old one's constraints. */
export function changed(schema, index, change) {
  const row = rows(schema)[index];
  const properties = Object.entries(schema.properties).map(([name, field], place) => {
    if (place !== index) return [name, field];
    return [change.name ?? name, "type" in change || "description" in change ? rewritten(field, change) : field];
  });
  const after = { ...row, ...change };
  const required = new Set((schema.required ?? []).map((name) => (name === row.name ? after.name : name)));
  if (after.required) required.add(after.name);
  else required.delete(after.name);
  return built(schema, properties, required);
}

/** With one more field, a required string. */
export function added(schema) {
  const names = new Set(rows(schema).map((row) => row.name));
  let number = names.size + 1;
  while (names.has(`field_${number}`)) number += 1;
  const name = `field_${number}`;
  const properties = [...Object.entries(schema.properties ?? {}), [name, { type: "string" }]];
  return built(schema, properties, new Set([...(schema.required ?? []), name]));
}

/** Without a row. */
export function removed(schema, index) {
  const { name } = rows(schema)[index];
  const properties = Object.entries(schema.properties).filter((_, place) => place !== index);
  return built(schema, properties, new Set((schema.required ?? []).filter((other) => other !== name)));
}

/** As text: what is short on one line, the rest indented. */
export function print(value, indent = "", lead = 0) {
  const line = oneLine(value);
  const within = indent + "  ";
  if (line.length + indent.length + lead <= WIDTH && !(indent === "" && isObject(value))) return line;
  if (Array.isArray(value) && value.length)
    return `[\n${value.map((item) => within + print(item, within)).join(",\n")}\n${indent}]`;
  if (!isObject(value) || Object.keys(value).length === 0) return line;
  const entries = Object.entries(value).map(([name, item]) => {
    const key = `${JSON.stringify(name)}: `;
    return within + key + print(item, within, key.length);
  });
  return `{\n${entries.join(",\n")}\n${indent}}`;
}

/** Whether all fields are those of the built-in address task. */
export function isAddress(schema) {
  const names = Object.keys(schema.properties ?? {});
  return names.length > 0 && names.every((name) => Object.hasOwn(ADDRESS.properties, name));
}

function built(schema, properties, required) {
  const order = properties.map(([name]) => name).filter((name) => required.has(name));
  const others = [...required].filter((name) => !order.includes(name));
  // Object.fromEntries, since assigning a field called __proto__ would not make one.
  return { ...schema, properties: Object.fromEntries(properties), required: [...order, ...others] };
}

function rewritten(field, change) {
  const own = isObject(field) ? field : {};
  const kept = change.type === undefined ? own : Object.fromEntries(KEPT.filter((key) => key in own).map((key) => [key, own[key]]));
  const { description, ...rest } = { ...(change.type === undefined ? {} : typed(change.type)), ...kept };
  const says = change.description ?? description;
  return says ? { ...rest, description: says } : rest;
}

function typed(type) {
  return type === "strings" ? { type: "array", items: { type: "string" } } : { type };
}

function typeOf(field) {
  if (!isObject(field)) return "other";
  if (field.type === "array") return oneLine(field.items) === '{"type": "string"}' ? "strings" : "other";
  return TYPES.includes(field.type) && field.type !== "strings" ? field.type : "other";
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function oneLine(value) {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "";
  return `{${Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${oneLine(item)}`).join(", ")}}`;
}

/** A parser's complaint, with line and column where it only counts characters. */
function reason(message, text) {
  const at = /at position (\d+)(?! \(line)/.exec(message);
  if (!at) return message;
  const before = text.slice(0, Number(at[1])).split("\n");
  return message.replace(at[0], `at line ${before.length} column ${before.at(-1).length + 1}`);
}
