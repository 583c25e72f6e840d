// Keeps the order on the page up to date. Without it the page reloads by itself.
"use strict";
(() => {
  const live = document.getElementById("live");
  if (!live || !live.dataset.events) return;
  let source, again;
  const listen = () => {
    clearTimeout(again);
    if (source) source.close();
    if (document.hidden) return; // browsers allow few connections to one host
    source = new EventSource(live.dataset.events);
    source.onmessage = (event) => {
      if (event.lastEventId === live.dataset.version) return;
      live.dataset.version = event.lastEventId;
      const fresh = document.createElement("template");
      fresh.innerHTML = event.data;
      live.replaceChildren(fresh.content);
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) again = setTimeout(listen, 5000);
    };
  };
  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", () => { if (source) source.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
  listen();
})();
