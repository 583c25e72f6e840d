// Keeps the order on the page up to date. Without it the page reloads by itself.
"use strict";
(() => {
  const live = document.getElementById("live");
  if (!live || !live.dataset.events) return;
  let source, again;
  const show = (version, contents) => {
    if (version === live.dataset.version) return;
    live.dataset.version = version;
    live.replaceChildren(contents);
  };
  const listen = () => {
    clearTimeout(again);
    if (source) source.close();
    if (document.hidden) return; // browsers allow few connections to one host
    source = new EventSource(live.dataset.events);
    source.onmessage = (event) => {
      const fresh = document.createElement("template");
      fresh.innerHTML = event.data;
      show(event.lastEventId, fresh.content);
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) again = setTimeout(load, 5000);
    };
  };
  // The shop lets only so many pages listen: the others load their contents now and then.
  const load = async () => {
    try {
      const answer = await fetch(location.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("live");
      const contents = document.createDocumentFragment();
      if (fresh) {
        contents.append(...fresh.childNodes);
        show(fresh.dataset.version, contents);
      }
    } catch { /* the shop cannot be reached now */ }
    listen();
  };
  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", () => { if (source) source.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
  listen();
})();
