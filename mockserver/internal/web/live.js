// Updates the part of a page that changes and leaves the rest alone: focus, typed text,
// open details and the scroll position stay.
"use strict";
(() => {
  const live = document.querySelector("#live[data-live]");
  const offline = document.getElementById("offline");
  let events = null, again = null, fetching = false, missed = false;

  // keyOf identifies an element. Not node.id: a field with the name "id" would shadow it.
  const keyOf = (node) => node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("id") || node.getAttribute("data-key") || "" : "";
  const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

  function morphAttributes(from, to) {
    for (const { name } of [...from.attributes]) {
      if (!to.hasAttribute(name) && !(name === "open" && from.nodeName === "DETAILS")) from.removeAttribute(name);
    }
    for (const { name, value } of to.attributes) {
      if (name === "open" && from.nodeName === "DETAILS") continue;
      if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
  }

  function morph(from, to) {
    if (from.nodeType !== Node.ELEMENT_NODE) {
      if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
      return;
    }
    if (from.hasAttribute("data-keep") && to.hasAttribute("data-keep") || from.isEqualNode(to)) return;
    if (from.hasAttribute("data-refused")) return; // the error must stay readable; the fresh page does not have it
    morphAttributes(from, to);
    morphChildren(from, to);
    if (from.hasAttribute("data-copy")) arm(from);
  }

  function morphChildren(from, to) {
    const wanted = new Set([...to.childNodes].map(keyOf).filter(Boolean));
    const known = new Map([...from.childNodes].map((n) => [keyOf(n), n]).filter(([key]) => key));
    let at = from.firstChild;
    for (const next of [...to.childNodes]) {
      const key = keyOf(next);
      // Remove first what has gone, so that the rest need not move: a move loses the focus.
      while (at && keyOf(at) && !wanted.has(keyOf(at))) at = drop(at);
      while (at && known.has(key) && !keyOf(at)) at = drop(at);
      if (at && alike(at, next)) {
        morph(at, next);
        at = at.nextSibling;
      } else if (key && known.has(key) && alike(known.get(key), next)) {
        const moved = known.get(key);
        if (from.moveBefore) from.moveBefore(moved, at); else from.insertBefore(moved, at);
        morph(moved, next);
      } else {
        const made = from.insertBefore(next, at);
        if (made.querySelectorAll) enhance(made);
        if (at && !keyOf(at) && !key) at = drop(at);
      }
    }
    while (at) at = drop(at);
  }

  function drop(node) {
    const next = node.nextSibling;
    node.remove();
    return next;
  }

  async function refresh() {
    if (fetching) { missed = true; return; }
    fetching = true;
    try {
      do {
        missed = false;
        const answer = await fetch(live.dataset.from, { headers: { "X-Fragment": "1" }, redirect: "error" });
        if (!answer.ok && answer.status !== 404) throw new Error("HTTP " + answer.status);
        const text = await answer.text();
        const fresh = document.createElement("template");
        fresh.innerHTML = text;
        morphChildren(live, document.importNode(fresh.content, true));
        if (offline) offline.hidden = true;
      } while (missed);
    } catch {
      if (offline && !document.hidden) offline.hidden = false;
    } finally {
      fetching = false;
    }
  }

  // A hidden page does not listen: browsers allow few connections to one host.
  function listen() {
    clearTimeout(again);
    if (events) events.close();
    events = null;
    if (document.hidden) return;
    events = new EventSource(live.dataset.live);
    events.onmessage = refresh;
    events.onerror = () => {
      if (offline) offline.hidden = false;
      if (events && events.readyState === EventSource.CLOSED) again = setTimeout(() => { refresh(); listen(); }, 5000);
    };
  }

  // arm activates a button that copies the text of an element.
  function arm(button) {
    if (!navigator.clipboard) return;
    button.hidden = false;
    if (button.armed) return;
    button.armed = true;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      await navigator.clipboard.writeText(button.dataset.text || source.textContent.trim());
      const before = button.textContent;
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = before; }, 1500);
    });
  }

  function enhance(root) {
    for (const button of root.querySelectorAll("button[data-copy]")) arm(button);
    if (root.matches && root.matches("button[data-copy]")) arm(root);
  }

  enhance(document);
  // Focus the first field that the server refused.
  const wrong = document.querySelector("[aria-invalid=true]");
  if (wrong) wrong.focus();
  if (live) {
    document.addEventListener("visibilitychange", listen);
    addEventListener("pagehide", () => { if (events) events.close(); events = null; });
    addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
    listen();
  }
})();
