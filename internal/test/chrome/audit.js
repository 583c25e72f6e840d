(() => {
  const found = [];
  const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (typeof e.className === "string" && e.className ? "." + e.className.trim().replace(/\s+/g, ".") : "");
  const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const doc = document.documentElement;

  if (!doc.lang) found.push("<html> has no lang");
  if (!document.title.trim()) found.push("the page has no title");
  if (document.querySelectorAll("h1").length !== 1) found.push("the page has " + document.querySelectorAll("h1").length + " <h1>, not one");
  if (document.querySelectorAll("main").length !== 1) found.push("the page has no single <main>");
  if (doc.scrollWidth > innerWidth) {
    found.push("the page scrolls sideways: " + doc.scrollWidth + " > " + innerWidth);
    for (const e of document.body.querySelectorAll("*")) {
      if (seen(e) && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, .whole")) { found.push("  because of " + name(e)); break; }
    }
  }
  const ids = new Set();
  for (const e of document.querySelectorAll("[id]")) {
    if (ids.has(e.id)) found.push("the id " + e.id + " stands twice");
    ids.add(e.id);
  }
  for (const attribute of ["aria-describedby", "aria-labelledby", "for"]) {
    for (const e of document.querySelectorAll("[" + attribute + "]")) {
      for (const id of e.getAttribute(attribute).split(/\s+/)) if (!ids.has(id)) found.push(name(e) + ": " + attribute + " names " + id + ", which is not there");
    }
  }
  const text = (e) => (e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") || "").split(/\s+/).map((id) => id && document.getElementById(id) ? document.getElementById(id).textContent : "").join(" ") || e.textContent || "").trim();
  for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (![...(e.labels || [])].some((l) => l.textContent.trim()) && !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby")) found.push(name(e) + " has no label");
  }
  for (const e of document.querySelectorAll("button, a[href], summary")) {
    if (!e.hidden && !text(e)) found.push(name(e) + " has no name");
  }
  for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt")) found.push("an image has no alt");
  for (const e of document.querySelectorAll("[style], script:not([src]), style")) found.push("inline style or script: " + name(e));

  // Contrast (WCAG 2.2 AA) of all text that can be seen.
  const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const light = ([r, g, b]) => {
    const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) { const c = parse(getComputedStyle(at).backgroundColor); if (c[3] === 1) return c; }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const told = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.nodeValue.trim() || !seen(e) || e.closest(".unseen, .skip, noscript, option")) continue;
    const style = getComputedStyle(e);
    const a = light(parse(style.color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && parseInt(style.fontWeight) >= 700;
    if (ratio < (large ? 3 : 4.5) && !told.has(name(e))) { told.add(name(e)); found.push("contrast " + ratio.toFixed(2) + " of " + name(e) + ": " + node.nodeValue.trim().slice(0, 40)); }
  }
  return found;
})()
