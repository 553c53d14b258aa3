// The page to paste text on: what is typed goes to this server, what it answers is shown. Nothing typed is ever lost to
// an error, and in this tab not to a reload either. The key is kept in this tab only.

import { byId, element } from "./dom.js";
import { SchemaEditor } from "./editor.js";
import { firstLanguage, hush, speak, tell, translate } from "./i18n.js";
import { PATHS, body, curl, keyIn, readLabels, refusal } from "./request.js";
import { answerView } from "./result.js";
import { NEWS, SAMPLES } from "./samples.js";
import { shown } from "./spans.js";

const KEPT = ["text-extract", "text-classify", "schema", "labels", "task", "key", "model"];
const HIDDEN_KEY = "sk-…";
const BUILTIN = "copydesk-nano";

const text = byId("text");
const labels = byId("labels");
const key = byId("key");
const model = byId("model");
const status = byId("status");
const error = byId("error");
const tabs = [byId("tab-extract"), byId("tab-classify")];

const texts = { extract: SAMPLES.extract[0][1], classify: SAMPLES.classify[0][1] };
let task = "extract";
let running = null;
let counting = null;
let wantedModel = "";
let firstModel = "";
let editor = null;

/** What outlives a reload, in this tab. */
const kept = {
  get(what) {
    try {
      return sessionStorage.getItem(`copydesk.${what}`);
    } catch {
      return null;
    }
  },
  set(what, value) {
    try {
      sessionStorage.setItem(`copydesk.${what}`, value);
    } catch {
      // Full, or not allowed: then it does not outlive a reload.
    }
  },
};

function begin() {
  speak(firstLanguage());
  byId("language").value = firstLanguage();
  const [textExtract, textClassify, schema, typedLabels, chosenTask, , chosenModel] = KEPT.map(kept.get);
  texts.extract = textExtract ?? texts.extract;
  texts.classify = textClassify ?? texts.classify;
  wantedModel = chosenModel ?? "";
  editor = new SchemaEditor(schemaChanged);
  if (schema !== null) editor.text = schema;
  labels.value = typedLabels ?? NEWS.join("\n");
  takeKey();
  chooseTask(chosenTask in PATHS ? chosenTask : "extract");
  checkLabels();
  translate(document);
  listen();
}

function listen() {
  byId("language").addEventListener("change", (event) => {
    speak(event.target.value, { remember: true });
    translate(document);
  });
  key.addEventListener("input", () => kept.set("key", key.value));
  key.addEventListener("change", listModels);
  byId("key-show").addEventListener("change", (event) => (key.type = event.target.checked ? "text" : "password"));
  model.addEventListener("change", () => {
    wantedModel = model.value;
    kept.set("model", wantedModel);
    warnUntrained();
  });
  addEventListener("hashchange", takeKey);
  text.addEventListener("input", () => {
    texts[task] = text.value;
    kept.set(`text-${task}`, text.value);
  });
  labels.addEventListener("input", checkLabels);
  byId("labels-reset").addEventListener("click", () => replaceText(labels, NEWS.join("\n")));
  for (const tab of tabs) {
    tab.addEventListener("click", () => chooseTask(tab.dataset.task));
    tab.addEventListener("keydown", moveTab);
  }
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  byId("cancel").addEventListener("click", () => running?.abort());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape") running?.abort();
  });
}

/** A key in the address goes into the field, and out of the address and so out of the history. */
function takeKey() {
  const given = keyIn(location.hash);
  if (given) {
    kept.set("key", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  key.value = given ?? kept.get("key") ?? "";
  if (key.value) listModels();
}

async function listModels() {
  const note = byId("key-note");
  const asked = key.value.trim();
  note.classList.remove("error-note");
  tell(note, "keyHint");
  if (!asked) return;
  let reply;
  try {
    reply = await fetch("v1/models", { headers: authorization(asked) });
  } catch {
    return; // sending will say so
  }
  if (asked !== key.value.trim()) return;
  const said = reply.ok ? "keyAccepted" : reply.status === 401 ? "refusedKey" : "keyHint";
  note.classList.toggle("error-note", reply.status === 401);
  tell(note, said);
  const listed = reply.ok ? await reply.json().catch(() => null) : null;
  if (Array.isArray(listed?.data)) offerModels(listed.data.map((each) => String(each.id)));
}

function offerModels(ids) {
  firstModel = ids[0] ?? "";
  model.replaceChildren(
    element("option", { value: "", say: firstModel ? ["modelDefaultIs", { model: shown(firstModel) }] : "modelDefault" }),
    ...ids.map((id) => element("option", { value: id }, shown(id))),
  );
  model.value = ids.includes(wantedModel) ? wantedModel : "";
  warnUntrained();
}

function authorization(secret) {
  // A header holds no other characters; what was pasted beside the key is the server's to refuse.
  return secret ? { Authorization: `Bearer ${encodeURI(secret)}` } : {};
}

function chooseTask(chosen) {
  task = chosen;
  kept.set("task", task);
  for (const tab of tabs) {
    const selected = tab.dataset.task === task;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !selected;
  }
  text.value = texts[task];
  const offers = SAMPLES[task].map(([word, sample]) =>
    element("button", { type: "button", say: word, on: { click: () => offer(sample) } }),
  );
  byId("samples").replaceChildren(element("span", { class: "note", say: "samples" }), ...offers);
  warnUntrained();
}

function offer(sample) {
  replaceText(text, sample);
}

/** As if typed, so that it can be undone. */
function replaceText(field, content) {
  field.focus();
  field.select();
  if (document.execCommand("insertText", false, content)) return;
  field.value = content;
  field.dispatchEvent(new Event("input"));
}

function moveTab(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: -tabs.length, End: tabs.length }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const at = tabs.indexOf(event.currentTarget) + step;
  const next = tabs[Math.abs(step) === 1 ? (at + tabs.length) % tabs.length : step < 0 ? 0 : tabs.length - 1];
  chooseTask(next.dataset.task);
  next.focus();
}

function schemaChanged() {
  if (!editor) return; // it is only being made
  kept.set("schema", editor.text);
  warnUntrained();
}

function checkLabels() {
  kept.set("labels", labels.value);
  const { error: wrong, values } = readLabels(labels.value);
  labels.setAttribute("aria-invalid", Boolean(wrong));
  if (wrong) tell(byId("labels-note"), wrong, values);
  else hush(byId("labels-note"));
  warnUntrained();
}

function warnUntrained() {
  const builtin = (model.value || firstModel) === BUILTIN;
  const listed = readLabels(labels.value).labels;
  const news = listed.length === NEWS.length && NEWS.every((label) => listed.includes(label));
  const say = (node, word, wanted) => (wanted ? tell(node, word) : hush(node));
  say(byId("schema-untrained"), "schemaUntrained", builtin && editor.valid && !editor.isAddress);
  say(byId("labels-untrained"), "labelsUntrained", builtin && !news);
}

/** What is asked, or null where something has to be typed first: then that is said, and the cursor put there. */
function asked() {
  const missing = (node, word) => {
    fail({ word });
    node.focus();
    return null;
  };
  const listed = readLabels(labels.value);
  if (!key.value.trim()) return missing(key, "keyMissing");
  if (!text.value.trim()) return missing(text, "textEmpty");
  if (task === "extract" && !editor.valid) {
    fail({ word: "schemaFirst" });
    editor.show();
    return null;
  }
  if (task === "classify" && listed.error) return missing(labels, listed.error);
  const json = body(task, { text: text.value, model: model.value, schema: editor.text, labels: listed.labels });
  const address = new URL(PATHS[task], document.baseURI).href;
  const secret = key.value.trim();
  return { task, text: text.value, address, json, secret, curl: (hidden) => curl(address, hidden ? HIDDEN_KEY : secret, json) };
}

async function send() {
  if (running) return;
  clearFailure();
  const request = asked();
  if (!request) return;
  running = new AbortController();
  busy(true);
  tell(status, "waiting");
  try {
    await exchange(request, running.signal);
  } finally {
    running = null;
    busy(false);
  }
}

async function exchange(request, signal) {
  const started = performance.now();
  let reply;
  let written;
  try {
    reply = await fetch(request.address, {
      method: "POST",
      headers: { ...authorization(request.secret), "Content-Type": "application/json" },
      body: request.json,
      signal,
    });
    written = await reply.text();
  } catch {
    if (signal.aborted) return tell(status, "cancelled");
    return fail({ word: "refusedNetwork" });
  }
  const roundTrip = performance.now() - started;
  if (reply.ok) return show(written, request, roundTrip, reply);
  fail({ ...refusal(reply.status, reply.headers.get("Retry-After"), written, Date.now()), status: reply.status, id: reply.headers.get("x-request-id") });
  if (reply.status === 401) key.focus();
}

function show(written, request, roundTrip, reply) {
  let view;
  try {
    view = answerView(JSON.parse(written), request, roundTrip);
  } catch {
    return fail({ word: "refusedStrange", message: written.slice(0, 300), id: reply.headers.get("x-request-id") });
  }
  byId("answer").replaceChildren(...view);
  byId("answer").classList.remove("stale");
  byId("result").scrollIntoView({ block: "nearest" });
  tell(status, "answered", { ms: roundTrip.toFixed(0) });
}

function busy(is) {
  byId("send").disabled = is;
  const cancel = byId("cancel");
  if (!is && document.activeElement === cancel) byId("send").focus();
  cancel.hidden = !is;
  byId("result").setAttribute("aria-busy", is);
}

/** Say what went wrong, beside whatever answer is still there from before. */
function fail({ word, message = "", wait = null, status: code = null, id = null }) {
  hush(status);
  const again = element("p", { class: "note", "aria-live": "off" });
  error.replaceChildren(
    element("p", {}, element("strong", { say: word }), ...(code === null ? [] : [` (${code})`])),
    ...(message ? [element("p", { class: "value" }, shown(message))] : []),
    ...(wait === null ? [] : [again]),
    ...(id ? [element("p", { class: "note", say: ["requestId", { id: shown(id) }] })] : []),
  );
  byId("answer").classList.add("stale");
  error.scrollIntoView({ block: "nearest" });
  if (wait !== null) countDown(again, wait);
}

function countDown(node, seconds) {
  const until = performance.now() + 1000 * seconds;
  const tick = () => {
    const left = Math.ceil((until - performance.now()) / 1000);
    if (left > 0) tell(node, "tryIn", { seconds: left });
    else {
      tell(node, "tryNow");
      clearInterval(counting);
    }
  };
  counting = setInterval(tick, 250);
  tick();
}

function clearFailure() {
  clearInterval(counting);
  error.replaceChildren();
}

begin();
