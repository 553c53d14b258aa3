// Where the values of an answer stand in its text. Positions are code points, as in an answer's JSON, never the UTF-16
// units that JavaScript's own strings count. Knows no document.

const HUES = [45, 200, 120, 285, 15, 165, 240, 330];
const UNSEEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\p{Surrogate}]/gu;

/** Text as it is shown: what would be invisible, or turn the rest of its line around, becomes a replacement mark. */
export function shown(text) {
  return text.replace(UNSEEN, "\ufffd");
}

/** The spans of a field as `[[start, end], ...]`; its JSON has none, one or several. */
export function spansOf(field) {
  const span = field.span;
  if (!Array.isArray(span)) return [];
  return Array.isArray(span[0]) ? span : [span];
}

/** The text in parts `{text, names}`, each with the names of the fields that stand there, in the fields' order. */
export function parts(text, fields) {
  const points = Array.from(text);
  const spans = Object.entries(fields).flatMap(([name, field]) =>
    spansOf(field).map(([start, end]) => ({ name, start, end: Math.min(end, points.length) })),
  );
  const bounds = new Set([0, points.length, ...spans.flatMap(({ start, end }) => [start, end])]);
  const sorted = [...bounds].filter((bound) => bound <= points.length).sort((one, other) => one - other);
  return sorted.slice(1).map((end, index) => {
    const start = sorted[index];
    const there = spans.filter((span) => span.start <= start && end <= span.end);
    return { text: points.slice(start, end).join(""), names: [...new Set(there.map((span) => span.name))] };
  });
}

/** The single values of an answer by their paths: `city`, `items[0].price`, or `value` for the answer itself. */
export function leaves(value, path = "") {
  const inner = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item])
    : value !== null && typeof value === "object"
      ? Object.entries(value).map(([name, item]) => [path ? `${path}.${name}` : name, item])
      : [];
  if (inner.length === 0) return new Map([[path || "value", value]]);
  return new Map(inner.flatMap(([at, item]) => [...leaves(item, at)]));
}

/** A hue in degrees for each name, by its place. */
export function hues(names) {
  return new Map(names.map((name, index) => [name, HUES[index % HUES.length]]));
}

/** A CSS background of one colour, or of several as stripes one below the other; `--shade` is the page's lightness. */
export function background(degrees) {
  const shades = degrees.map((hue) => `hsl(${hue} 85% var(--shade))`);
  if (shades.length === 1) return shades[0];
  const share = 100 / shades.length;
  const stops = shades.map((shade, index) => `${shade} ${index * share}% ${(index + 1) * share}%`);
  return `linear-gradient(${stops.join(", ")})`;
}
