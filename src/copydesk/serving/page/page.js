// The page to paste text on: what is typed goes to this server, what it answers is shown. Nothing typed is ever lost to
// an error, and in this tab not to a reload either.

import { Access, authorization } from "./access.js";
import { byId, element } from "./dom.js";
import { SchemaEditor } from "./editor.js";
import { hideFailure, showFailure } from "./failure.js";
import { firstLanguage, hush, speak, tell, translate } from "./i18n.js";
import { keep, kept } from "./keeping.js";
import { PATHS, body, curl, readLabels, refusal } from "./request.js";
import { answerView } from "./result.js";
import { NEWS, SAMPLES } from "./samples.js";

const HIDDEN_KEY = "sk-…";
const UNKNOWN = 300;

const text = byId("text");
const labels = byId("labels");
const status = byId("status");
const tabs = [byId("tab-extract"), byId("tab-classify")];

speak(firstLanguage());
const texts = {
  extract: kept("text-extract") ?? SAMPLES.extract[0][1],
  classify: kept("text-classify") ?? SAMPLES.classify[0][1],
};
labels.value = kept("labels") ?? NEWS.join("\n");
const editor = new SchemaEditor(kept("schema"));
const access = new Access(warnUntrained);
let task = "extract";
let running = null;

function begin() {
  byId("language").value = firstLanguage();
  byId("language").addEventListener("change", ({ target }) => {
    speak(target.value, { remember: true });
    translate(document);
  });
  editor.onChange = () => {
    keep("schema", editor.text);
    warnUntrained();
  };
  text.addEventListener("input", () => {
    texts[task] = text.value;
    keep(`text-${task}`, text.value);
  });
  labels.addEventListener("input", labelsChanged);
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
  chooseTask(kept("task") === "classify" ? "classify" : "extract");
  labelsChanged();
  translate(document);
}

function chooseTask(chosen) {
  task = chosen;
  keep("task", task);
  for (const tab of tabs) {
    const selected = tab.dataset.task === task;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !selected;
  }
  text.value = texts[task];
  const offers = SAMPLES[task].map(([word, sample]) =>
    element("button", { type: "button", say: word, on: { click: () => replaceText(text, sample) } }),
  );
  byId("samples").replaceChildren(element("span", { class: "note", say: "samples" }), ...offers);
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

/** As if typed, so that it can be undone. */
function replaceText(field, content) {
  field.focus();
  field.select();
  if (document.execCommand("insertText", false, content)) return;
  field.value = content;
  field.dispatchEvent(new Event("input"));
}

function labelsChanged() {
  keep("labels", labels.value);
  const { error, values } = readLabels(labels.value);
  labels.setAttribute("aria-invalid", Boolean(error));
  if (error) tell(byId("labels-note"), error, values);
  else hush(byId("labels-note"));
  warnUntrained();
}

function warnUntrained() {
  const listed = readLabels(labels.value).labels;
  const news = listed.length === NEWS.length && NEWS.every((label) => listed.includes(label));
  const say = (node, word, wanted) => (wanted ? tell(node, word) : hush(node));
  say(byId("schema-untrained"), "schemaUntrained", access.isBuiltin && editor.valid && !editor.isAddress);
  say(byId("labels-untrained"), "labelsUntrained", access.isBuiltin && !news);
}

/** What is asked, or null where something has to be typed first: then that is said, and the cursor put there. */
function asked() {
  const missing = (there, word, values) => {
    fail({ word, values });
    there.focus();
    return null;
  };
  const { labels: listed, error, values } = readLabels(labels.value);
  if (!access.key) return missing(access, "keyMissing");
  if (!text.value.trim()) return missing(text, "textEmpty");
  if (task === "extract" && !editor.valid) return missing(editor, "schemaFirst");
  if (task === "classify" && error) return missing(labels, error, values);
  const json = body(task, { text: text.value, model: access.model, schema: editor.text, labels: listed });
  const address = new URL(PATHS[task], document.baseURI).href;
  const { key } = access;
  return { task, text: text.value, address, json, key, curl: (hidden) => curl(address, hidden ? HIDDEN_KEY : key, json) };
}

async function send() {
  if (running) return;
  hideFailure();
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
  const headers = { ...authorization(request.key), "Content-Type": "application/json" };
  let reply;
  let written;
  try {
    reply = await fetch(request.address, { method: "POST", headers, body: request.json, signal });
    written = await reply.text();
  } catch {
    if (signal.aborted) return tell(status, "cancelled");
    return fail({ word: "refusedNetwork" });
  }
  const roundTrip = performance.now() - started;
  const id = reply.headers.get("x-request-id");
  if (reply.ok) return show(written, request, roundTrip, id);
  const refused = refusal(reply.status, reply.headers.get("Retry-After"), written, Date.now());
  fail({ ...refused, status: reply.status, id });
  if (reply.status === 401) access.focus();
}

function show(written, request, roundTrip, id) {
  let view;
  try {
    view = answerView(JSON.parse(written), request, roundTrip);
  } catch {
    return fail({ word: "refusedStrange", message: written.slice(0, UNKNOWN), id });
  }
  byId("answer").replaceChildren(...view);
  byId("before").hidden = true;
  byId("result").scrollIntoView({ block: "nearest" });
  tell(status, "answered", { ms: roundTrip.toFixed(0) });
}

function fail(what) {
  hush(status);
  byId("before").hidden = !byId("answer").querySelector("dl");
  showFailure(what);
}

function busy(is) {
  byId("send").disabled = is;
  const cancel = byId("cancel");
  if (!is && document.activeElement === cancel) byId("send").focus();
  cancel.hidden = !is;
  byId("result").setAttribute("aria-busy", is);
}

begin();
