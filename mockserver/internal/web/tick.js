// Lets the server's clock, and what is counted down by it, run on between two answers of
// the server. Texts change in place and keep their width, so nothing moves.
"use strict";
(() => {
  let base = null;

  // serverNow is the time of the server's clock in milliseconds. The server's last word
  // counts; what has passed since then is ours.
  function serverNow(clock) {
    if (!base || base.given !== clock.dataset.clock) base = { given: clock.dataset.clock, since: performance.now() };
    return Number(base.given) + (performance.now() - base.since) * Number(clock.dataset.rate);
  }

  function span(left, units) {
    const seconds = Math.round(left / 1000);
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return parts.map((n, i) => n > 0 ? n + units[i] : "").filter(Boolean).join(" ");
  }

  function put(element, text) {
    const node = element.firstChild;
    if (node && node.nodeValue !== text) node.nodeValue = text;
  }

  function tick() {
    const words = document.getElementById("clock");
    const clock = document.querySelector("[data-clock]");
    if (document.hidden || !words || !clock || !(Number(clock.dataset.rate) > 0)) return;
    const now = serverNow(clock);
    const shown = new Date(now).toISOString().slice(0, 19).replace("T", " ") + " UTC";
    for (const element of document.querySelectorAll(".running")) put(element, shown);
    for (const element of document.querySelectorAll(".wait")) {
      const left = Number(element.dataset.due) - now;
      put(element, left < 500 ? words.dataset.now : words.dataset.in.replace("%s", span(left, words.dataset.units.split("|"))));
    }
  }

  tick();
  setInterval(tick, 200);
})();
