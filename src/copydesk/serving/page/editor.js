// The schema editor: a table of fields and the JSON Schema itself, two views of one text. Knows no requests.

import { byId, element } from "./dom.js";
import { hint, hush, name, tell } from "./i18n.js";
import { ADDRESS, INVOICE, TYPES, added, changed, isAddress, print, read, removed, rows, wrongName } from "./schema.js";

const TYPE_WORDS = {
  string: "typeString",
  integer: "typeInteger",
  number: "typeNumber",
  boolean: "typeBoolean",
  strings: "typeStrings",
  other: "typeOther",
};

/** Holds the schema. */
export class SchemaEditor {
  #text = byId("schema");
  #body = byId("fields").tBodies[0];
  #note = byId("schema-note");
  #fieldsNote = byId("fields-note");
  #schema = ADDRESS;
  /** Called after every change. */
  onChange = () => {};

  /** `text` is a schema typed before; null begins with the address task. */
  constructor(text) {
    this.#text.addEventListener("input", () => this.#typed());
    byId("field-add").addEventListener("click", () => {
      this.#edit(added(this.#schema));
      this.#body.lastElementChild.querySelector("input").select();
    });
    byId("schema-reset").addEventListener("click", () => this.#edit(ADDRESS));
    byId("schema-other").addEventListener("click", () => this.#edit(INVOICE));
    this.#text.value = text ?? print(ADDRESS);
    this.#typed();
  }

  /** The schema as it was typed. */
  get text() {
    return this.#text.value;
  }

  /** Whether it can be sent. */
  get valid() {
    return this.#schema !== null;
  }

  /** Whether it is the address task, or a part of it. */
  get isAddress() {
    return this.valid && isAddress(this.#schema);
  }

  /** Put the cursor where what is wrong can be mended. */
  focus() {
    this.#text.focus();
  }

  #typed() {
    const { schema, error, values } = read(this.#text.value);
    this.#take(schema ?? null, error ?? "schemaValid", values);
    if (schema) this.#fill();
    else byId("schema-json").open = true;
  }

  /** What the table changed goes into the text. Without `fill` the rows stay as they are, for a cursor is in them. */
  #edit(schema, { fill = true } = {}) {
    this.#text.value = print(schema);
    this.#take(schema, "schemaValid");
    if (fill) this.#fill();
  }

  #take(schema, word, values) {
    const wrong = schema === null;
    this.#schema = schema;
    this.#text.setAttribute("aria-invalid", wrong);
    this.#note.classList.toggle("error-note", wrong);
    byId("fields").inert = wrong;
    byId("field-add").disabled = wrong;
    tell(this.#note, word, values);
    this.onChange();
  }

  #fill() {
    hush(this.#fieldsNote);
    this.#body.replaceChildren(...rows(this.#schema).map((row, index) => this.#row(row, index)));
  }

  #row(row, index) {
    const change = (changes) => this.#edit(changed(this.#schema, index, changes), { fill: false });
    const field = element("input", { label: ["fieldName", row], spellcheck: "false", class: "code" });
    field.value = row.name;
    field.addEventListener("input", () => {
      const wrong = wrongName(this.#schema, index, field.value);
      field.setAttribute("aria-invalid", Boolean(wrong));
      if (wrong) tell(this.#fieldsNote, wrong);
      else {
        hush(this.#fieldsNote);
        change({ name: field.value });
        rename(field.value);
      }
    });
    const types = row.type === "other" ? [...TYPES, "other"] : TYPES;
    const type = element(
      "select",
      { label: ["fieldType", row], on: { change: () => change({ type: type.value }) } },
      ...types.map((each) => element("option", { value: each, say: TYPE_WORDS[each], disabled: each === "other" })),
    );
    type.value = row.type;
    const description = element("input", {
      label: ["fieldDescription", row],
      on: { input: () => change({ description: description.value }) },
    });
    description.value = row.description;
    hint(description, "columnDescription");
    const required = element("input", {
      type: "checkbox",
      label: ["fieldRequired", row],
      on: { change: () => change({ required: required.checked }) },
    });
    required.checked = row.required;
    const remove = element("button", { type: "button", label: ["fieldRemove", row], on: { click: () => this.#remove(index) } }, "×");
    const rename = (now) => {
      name(field, "fieldName", { name: now });
      name(type, "fieldType", { name: now });
      name(description, "fieldDescription", { name: now });
      name(required, "fieldRequired", { name: now });
      name(remove, "fieldRemove", { name: now });
    };
    return element("tr", {}, ...[field, type, description, required, remove].map((node) => element("td", {}, node)));
  }

  #remove(index) {
    this.#edit(removed(this.#schema, index));
    const next = this.#body.rows[Math.min(index, this.#body.rows.length - 1)];
    (next?.querySelector("button") ?? byId("field-add")).focus();
  }
}
