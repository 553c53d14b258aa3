// What outlives a reload of the page, in this tab only: it goes when the tab is closed.

/** What was kept under a name, or null. */
export function kept(name) {
  try {
    return sessionStorage.getItem(`copydesk.${name}`);
  } catch {
    return null; // a browser that keeps nothing
  }
}

/** Keep a text under a name. */
export function keep(name, text) {
  try {
    sessionStorage.setItem(`copydesk.${name}`, text);
  } catch {
    // Full, or not allowed: then it does not outlive a reload.
  }
}
