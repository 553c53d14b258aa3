// Who asks and whom: the key, and the models that it may use. Knows nothing of what is asked.

import { byId, element } from "./dom.js";
import { tell } from "./i18n.js";
import { keep, kept } from "./keeping.js";
import { keyIn } from "./request.js";
import { shown } from "./spans.js";

const BUILTIN = "copydesk-nano";

/** The headers that carry a key. */
export function authorization(key) {
  // A header holds no other characters; what was pasted beside the key is the server's to refuse.
  return key ? { Authorization: `Bearer ${encodeURI(key)}` } : {};
}

/** Holds key and model. `onChange` is called when another model is going to be asked. */
export class Access {
  #key = byId("key");
  #model = byId("model");
  #note = byId("key-note");
  #wanted = kept("model") ?? "";
  #first = "";
  #onChange;

  constructor(onChange) {
    this.#onChange = onChange;
    this.#key.addEventListener("input", () => keep("key", this.#key.value));
    this.#key.addEventListener("change", () => this.#list());
    byId("key-show").addEventListener("change", ({ target }) => (this.#key.type = target.checked ? "text" : "password"));
    this.#model.addEventListener("change", () => {
      this.#wanted = this.#model.value;
      keep("model", this.#wanted);
      this.#onChange();
    });
    addEventListener("hashchange", () => this.#take());
    this.#take();
  }

  /** The key, or "". */
  get key() {
    return this.#key.value.trim();
  }

  /** The model to ask by name, or "" for the server's default. */
  get model() {
    return this.#model.value;
  }

  /** Whether it is the built-in one, as far as is known. */
  get isBuiltin() {
    return (this.model || this.#first) === BUILTIN;
  }

  /** Put the cursor where a key can be typed. */
  focus() {
    this.#key.focus();
  }

  /** A key in the address goes into the field, and out of the address and so out of the tab's history. */
  #take() {
    const given = keyIn(location.hash);
    if (given) {
      keep("key", given);
      history.replaceState(null, "", location.pathname + location.search);
    }
    this.#key.value = given ?? kept("key") ?? "";
    this.#list();
  }

  async #list() {
    const asked = this.key;
    this.#say("keyHint");
    if (!asked) return;
    const reply = await fetch("v1/models", { headers: authorization(asked) }).catch(() => null);
    if (!reply || asked !== this.key) return; // no server: sending will say so; or another key meanwhile
    if (!reply.ok) return this.#say(reply.status === 401 ? "refusedKey" : "keyHint", reply.status === 401);
    this.#say("keyAccepted");
    const listed = await reply.json().catch(() => null);
    if (Array.isArray(listed?.data)) this.#offer(listed.data.map((each) => String(each.id)));
  }

  #offer(ids) {
    this.#first = ids[0] ?? "";
    const usual = this.#first ? ["modelDefaultIs", { model: shown(this.#first) }] : "modelDefault";
    const named = ids.map((id) => element("option", { value: id }, shown(id)));
    this.#model.replaceChildren(element("option", { value: "", say: usual }), ...named);
    this.#model.value = ids.includes(this.#wanted) ? this.#wanted : "";
    this.#onChange();
  }

  #say(word, wrong = false) {
    this.#note.classList.toggle("error-note", wrong);
    tell(this.#note, word);
  }
}
