// An answer as the page shows it: the text with its values marked, the values, the labels, and how it came about.
// Knows no requests beyond the text of the one that was answered.

import { copyButton, element } from "./dom.js";
import { background, hues, leaves, parts, shown } from "./spans.js";

const MATCHES = { exact: "matchExact", normalized: "matchNormalized", inferred: "matchInferred" };
const DRAFTS = { kept: "draftKept", corrected: "draftCorrected" };
const DRAFTERS = { rules: "draftRules", tagger: "draftTagger", lookup: "draftLookup", prediction: "draftPrediction" };
const UNSURE = 0.8;

/**
 * Elements for an answer. `sent` is `{task, text, curl(hidden)}`, `roundTrip` milliseconds. Errors: `TypeError` for what
 * is no answer.
 */
export function answerView(answer, sent, roundTrip) {
  const body = sent.task === "classify" ? labelsView(answer) : fieldsView(answer, sent.text);
  return [verdict(answer), ...body, facts(answer, roundTrip), rawView(answer), curlView(sent)];
}

function verdict(answer) {
  const badge = element("p", { class: answer.verified ? "badge verified" : "badge unverified", say: answer.verified ? "verified" : "unverified" });
  const notes = [
    answer.verified ? null : element("p", { class: "note error-note", say: "unverifiedHint" }),
    answer.truncated ? element("p", { class: "note error-note", say: "truncated" }) : null,
  ];
  return element("div", { class: "verdict" }, badge, ...notes);
}

function fieldsView(answer, text) {
  const names = Object.keys(answer.fields);
  const colours = hues(names);
  const table = valuesTable(answer, colours);
  const marked = markedText(text, answer.fields, colours);
  point(marked, table);
  return [marked, table];
}

function markedText(text, fields, colours) {
  const pieces = parts(text, fields).map((part) => {
    if (part.names.length === 0) return shown(part.text);
    const fates = new Set(part.names.map((name) => fields[name].draft ?? "none"));
    return element(
      "mark",
      {
        class: fates.has("corrected") ? "corrected" : fates.has("none") ? "" : "kept",
        "data-names": JSON.stringify(part.names),
        "data-shown": part.names.map(shown).join(", "),
        title: part.names.map(shown).join(", "),
        style: { background: background(part.names.map((name) => colours.get(name))) },
      },
      shown(part.text),
    );
  });
  return element("p", { class: "text", id: "marked", label: "source", role: "group" }, ...pieces);
}

function valuesTable(answer, colours) {
  const values = leaves(answer.value);
  const lines = Object.entries(answer.fields).map(([name, field]) => {
    const value = values.get(name);
    const empty = value === "" || value === null || value === undefined;
    const written = typeof value === "string" ? value : JSON.stringify(value ?? null);
    return element(
      "tr",
      { "data-name": name, tabindex: "0" },
      element("th", { scope: "row" }, element("span", { class: "name", style: { background: background([colours.get(name)]) } }, shown(name))),
      empty
        ? element("td", { class: "value note", say: "emptyValue" })
        : element("td", { class: "value" }, shown(written)),
      empty ? element("td") : element("td", { class: "match", say: MATCHES[field.match] }),
      element("td", { class: `fate ${field.draft ?? ""}`, say: DRAFTS[field.draft] ?? "draftNone" }),
      shareCell(field.confidence),
    );
  });
  return table("values", ["columnField", "columnValue", "columnMatch", "columnDraft", "columnConfidence"], lines);
}

function labelsView(answer) {
  const lines = Object.entries(answer.labels ?? {}).map(([label, share]) => {
    const chosen = label === answer.value;
    const named = element(chosen ? "strong" : "span", {}, shown(label));
    return element("tr", { class: chosen ? "chosen" : "" }, element("th", { scope: "row" }, named), shareCell(share, false));
  });
  const chosen = answer.abstained
    ? element("p", { class: "note error-note", say: "abstained" })
    : element("p", { class: "chosen-label" }, shown(String(answer.value)));
  return lines.length ? [chosen, table("values", ["columnLabel", "columnShare"], lines)] : [chosen];
}

function table(word, columns, lines) {
  const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col", say: column })));
  const caption = element("caption", { class: "unseen", say: word });
  return element("table", { id: "values" }, caption, element("thead", {}, head), element("tbody", {}, ...lines));
}

/** A bar with its number; one below what can be relied on is red. Some engines tell no probabilities. */
function shareCell(share, warns = true) {
  if (share === null) return element("td", { class: "sure note", say: "notTold" });
  const unsure = warns && share < UNSURE ? " unsure" : "";
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("span", { style: { width: `${100 * share}%` } }));
  return element("td", { class: `sure${unsure}` }, bar, element("span", { class: "number" }, percent(share)));
}

function percent(share) {
  if (share === null) return "–";
  const value = 100 * share;
  return value > 0 && value < 0.05 ? `${value.toExponential(1)} %` : `${value.toFixed(1)} %`;
}

/** A row pointed at shows where its value stands, and the other way round. */
function point(marked, values) {
  const light = (names) => {
    for (const mark of marked.querySelectorAll("mark")) {
      const own = JSON.parse(mark.dataset.names);
      mark.classList.toggle("lit", own.some((name) => names.includes(name)));
    }
    for (const row of values.tBodies[0].rows) row.classList.toggle("lit", names.includes(row.dataset.name));
  };
  for (const row of values.tBodies[0].rows) {
    for (const event of ["pointerenter", "focus"]) row.addEventListener(event, () => light([row.dataset.name]));
    for (const event of ["pointerleave", "blur"]) row.addEventListener(event, () => light([]));
  }
  marked.addEventListener("pointerover", (event) => {
    const mark = event.target.closest("mark");
    light(mark ? JSON.parse(mark.dataset.names) : []);
  });
  marked.addEventListener("pointerleave", () => light([]));
}

function facts(answer, roundTrip) {
  const { usage } = answer;
  const tokens = { prompt: usage.prompt_tokens, cached: usage.cached_tokens, completion: usage.completion_tokens };
  const drafter = answer.draft === null ? { say: "nothingDrafted" } : DRAFTERS[answer.draft] ? { say: DRAFTERS[answer.draft] } : {};
  const known = [
    ["factConfidence", element("dd", {}, percent(answer.confidence))],
    typeof answer.label_mass === "number" ? ["factLabelMass", element("dd", {}, percent(answer.label_mass))] : null,
    ["factDraft", element("dd", drafter, ...(drafter.say ? [] : [shown(String(answer.draft))]))],
    answer.accepted === null ? null : ["factAccepted", element("dd", {}, percent(answer.accepted))],
    answer.passes ? ["factPasses", element("dd", {}, String(answer.passes))] : null,
    ["factTokens", element("dd", { say: ["factTokensValue", tokens] })],
    ["factMs", element("dd", {}, `${answer.ms.toFixed(1)} ms`)],
    ["factRoundTrip", element("dd", {}, `${roundTrip.toFixed(1)} ms`)],
    ["factModel", element("dd", {}, shown(`${answer.model} · ${answer.engine}`))],
  ];
  const pairs = known.filter(Boolean).map(([word, value]) => element("div", {}, element("dt", { say: word }), value));
  return element("dl", { class: "facts", id: "facts" }, ...pairs);
}

function rawView(answer) {
  const json = JSON.stringify(answer, null, 2);
  return folded("raw", "rawJson", json, () => json);
}

function curlView(sent) {
  const view = folded("curl", "curl", sent.curl(true), () => sent.curl(false));
  view.append(element("p", { class: "note", say: "curlHint" }));
  return view;
}

function folded(id, word, text, copy) {
  return element(
    "details",
    { id },
    element("summary", { say: word }),
    copyButton(copy),
    element("pre", { class: "code", tabindex: "0", label: word, role: "group" }, shown(text)),
  );
}
