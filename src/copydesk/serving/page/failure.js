// What went wrong, as the page shows it, beside whatever answer is still there from before.

import { byId, element } from "./dom.js";
import { tell } from "./i18n.js";
import { shown } from "./spans.js";

const place = byId("error");
let counting = null;

/**
 * Show it. `word` says what it is, `message` are the server's own words, `wait` the seconds until it may be tried again,
 * `status` the HTTP status and `id` the request's.
 */
export function showFailure({ word, values = {}, message = "", wait = null, status = null, id = null }) {
  hideFailure();
  const again = element("p", { class: "note", "aria-live": "off" });
  place.replaceChildren(
    element("p", {}, element("strong", { say: [word, values] }), status === null ? null : ` (${status})`),
    ...(message ? [element("p", { class: "value" }, shown(message))] : []),
    ...(wait === null ? [] : [again]),
    ...(id ? [element("p", { class: "note", say: ["requestId", { id: shown(id) }] })] : []),
  );
  place.scrollIntoView({ block: "nearest" });
  if (wait !== null) countDown(again, wait);
}

/** Show nothing. */
export function hideFailure() {
  clearInterval(counting);
  place.replaceChildren();
}

function countDown(node, seconds) {
  const until = performance.now() + 1000 * seconds;
  const tick = () => {
    const left = Math.ceil((until - performance.now()) / 1000);
    if (left > 0) return tell(node, "tryIn", { seconds: left });
    clearInterval(counting);
    tell(node, "tryNow");
  };
  counting = setInterval(tick, 250);
  tick();
}
