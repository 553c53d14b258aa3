// What is sent to the server and what its refusals mean. Knows no document.

/** The paths of the two calls, relative to the page. */
export const PATHS = { extract: "v1/extract", classify: "v1/classify" };

/**
 * The body of a call as JSON text. A schema goes in as it was typed: what JavaScript makes of it could come out in
 * another order, and the order of fields matters.
 */
export function body(task, { text, model, schema, labels }) {
  const entries = [["text", JSON.stringify(text)]];
  if (model) entries.push(["model", JSON.stringify(model)]);
  if (task === "extract") entries.push(["schema", joined(schema)]);
  else entries.push(["labels", JSON.stringify(labels)]);
  entries.push(["details", "true"]);
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(", ")}}`;
}

/** JSON text on one line. A line break in JSON only ever stands between its tokens. */
function joined(json) {
  return json.trim().replace(/\s*\n\s*/g, " ");
}

/** The labels of a text with one a line, and a word for what is wrong with them, if anything. */
export function readLabels(text) {
  const labels = text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (labels.length < 2) return { labels, error: "labelsFew", values: {} };
  const twice = labels.find((label, index) => labels.indexOf(label) !== index);
  return twice === undefined ? { labels } : { labels, error: "labelsTwice", values: { label: twice } };
}

/** The same call as a command for a POSIX shell. */
export function curl(address, key, json) {
  const lines = [
    `curl ${quoted(address)}`,
    `-H ${quoted(`Authorization: Bearer ${key}`)}`,
    `-H ${quoted("Content-Type: application/json")}`,
    `-d ${quoted(json)}`,
  ];
  return lines.join(" \\\n  ");
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Seconds that a `Retry-After` header asks for, whole, or null. `now` is in milliseconds. */
export function retryAfter(header, now) {
  if (!header) return null;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}

/** What an answer that is none means: a word for it, the server's own message, and when to try again. */
export function refusal(status, header, text, now) {
  const message = messageOf(text);
  const wait = retryAfter(header, now);
  if (status === 401) return { word: "refusedKey", message, wait };
  if (status === 403) return { word: "refusedModel", message, wait };
  if (status === 429) return { word: "refusedQuota", message, wait };
  if (status === 503 || status === 504) return { word: "refusedBusy", message, wait };
  return { word: status >= 500 ? "refusedBroken" : "refusedRequest", message, wait };
}

/** The message of an error in OpenAI's shape; of anything else its beginning. */
function messageOf(text) {
  try {
    const message = JSON.parse(text).error.message;
    if (typeof message === "string") return message;
  } catch {
    // Something between here and the server answered.
  }
  return text.slice(0, 300);
}

/** The key in an address's fragment such as `#key=sk-...`, or null. */
export function keyIn(fragment) {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("key");
}
