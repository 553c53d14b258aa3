// Making elements. Text always goes in as text, so whatever an answer holds, it is never markup. Knows nothing of answers.

import { name, tell } from "./i18n.js";

/** The element of an id. */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * A new element. Of `options`, `say` and `label` are words of the page (`[word, values]` fills them in), `on` are
 * listeners, `style` are CSS properties, and all others attributes. Children are elements or strings.
 */
export function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  const { say, label, on = {}, style = {}, ...attributes } = options;
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  for (const [key, value] of Object.entries(style)) made.style.setProperty(key, value);
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener);
  if (say) tell(made, ...[say].flat());
  if (label) name(made, ...[label].flat());
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** A button that copies what `text()` gives, and says whether it could. */
export function copyButton(text) {
  const said = element("span", { class: "note", role: "status" });
  const copy = async () => tell(said, (await copied(text())) ? "copied" : "copyFailed");
  return element("span", { class: "copying" }, element("button", { type: "button", say: "copy", on: { click: copy } }), said);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedTheOldWay(text); // plain HTTP from another machine has no clipboard
  }
}

function copiedTheOldWay(text) {
  const before = document.activeElement;
  const field = element("textarea", { class: "unseen" });
  field.value = text;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } finally {
    field.remove();
    before?.focus();
  }
}
