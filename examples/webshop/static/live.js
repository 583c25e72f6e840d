// Keeps the order's state up to date. Without scripts, the page reloads itself.
"use strict";
const live = document.getElementById("live");
const look = async () => {
  try {
    if (!document.hidden) {
      const answer = await fetch(location.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("live");
      if (fresh && fresh.innerHTML !== live.innerHTML) live.replaceChildren(...fresh.childNodes);
    }
  } catch { /* the shop does not answer now */ }
  setTimeout(look, live.dataset.every);
};
setTimeout(look, live.dataset.every);
