// Keeps the page up to date and sends commands. Whatever it shows, the server has rendered: when
// something has changed it asks for the same page again and takes over what is different.
"use strict";

(() => {
  const GAP = Number(document.body.dataset.gap) || 1000; // between two requests for the page, in milliseconds
  const COMES_BACK = 3000; // after the server has refused to be listened to
  const TYPING = 150;

  const root = document.documentElement;
  const main = document.getElementById("main");
  const live = document.getElementById("live");
  const announcer = document.getElementById("announcer");
  const ahead = Date.parse(document.body.dataset.now) - Date.now() || 0;

  let source = null; // where events come from
  let request = null; // the request for the page that is under way
  let timer = 0; // of the next one
  let asked = 0; // when the last one began
  let stale = false; // something has changed since

  root.classList.add("scripted");

  // === asking for the page anew ===

  function soon() {
    stale = true;
    if (timer || request || document.hidden) return;
    timer = setTimeout(refresh, Math.max(0, asked + GAP - Date.now()));
  }

  async function refresh() {
    clearTimeout(timer);
    request?.abort();
    [timer, stale, asked] = [0, false, Date.now()];
    const mine = (request = new AbortController());
    try {
      const headers = { Accept: "text/html" };
      const answer = await fetch(location.href, { headers, signal: mine.signal });
      const text = await answer.text();
      if (mine === request) show(text);
    } catch {
      // The events tell when the server is there again.
    } finally {
      if (mine === request) request = null;
      if (stale) soon();
    }
  }

  function show(text) {
    const next = new DOMParser().parseFromString(text, "text/html");
    const wanted = next.getElementById("main");
    if (!wanted) return;
    const before = said(main);
    const focused = document.activeElement;
    takeOver(main, wanted);
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
    document.title = next.title;
    const after = said(main);
    if (after !== before) announcer.textContent = after;
    tick();
  }

  // What is worth to be read out when it changes.
  function said(within) {
    return [...within.querySelectorAll("[data-announce]")].map((it) => it.textContent).join(" ");
  }

  // === taking over what is different, so that focus, scrolling and what is typed stay ===

  function takeOver(from, to) {
    if (from.isEqualNode(to) || from.dataset?.keep !== undefined) return;
    takeAttributes(from, to);
    const keyed = new Map();
    for (const child of from.children) if (child.dataset.key) keyed.set(child.dataset.key, child);
    let at = from.firstChild;
    for (const wanted of [...to.childNodes]) {
      const key = wanted.dataset?.key;
      const match = key ? keyed.get(key) : isAlike(at, wanted) ? at : null;
      if (!match) {
        from.insertBefore(document.importNode(wanted, true), at);
        continue;
      }
      // Of two that call themselves the same, which must not be, the second is shown as well.
      if (key) keyed.delete(key);
      if (match === at) at = at.nextSibling;
      else from.insertBefore(match, at);
      if (match.nodeType === Node.ELEMENT_NODE) takeOver(match, wanted);
      else if (match.data !== wanted.data) match.data = wanted.data;
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  function isAlike(a, b) {
    return a && a.nodeType === b.nodeType && a.nodeName === b.nodeName && !a.dataset?.key;
  }

  function takeAttributes(from, to) {
    for (const { name } of [...from.attributes]) {
      if (!to.hasAttribute(name) && !(from.nodeName === "DETAILS" && name === "open")) {
        from.removeAttribute(name);
      }
    }
    for (const { name, value } of to.attributes) {
      if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
  }

  // === listening ===

  function listen() {
    if (source || document.hidden || !document.body.dataset.events) return;
    source = new EventSource(document.body.dataset.events);
    for (const kind of ["hello", "run", "phase", "gone", "operator", "type", "dropped"]) {
      source.addEventListener(kind, soon);
    }
    source.onopen = () => tell("Live");
    source.onerror = () => {
      tell("Not connected");
      if (source?.readyState === EventSource.CLOSED) {
        stop();
        setTimeout(listen, COMES_BACK);
      }
    };
  }

  function stop() {
    source?.close();
    source = null;
  }

  function tell(state) {
    if (live.textContent !== state) live.textContent = state;
  }

  // A page that nobody sees holds no connection: a browser has only six for a server.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stop();
    else listen();
  });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);
  const seconds = Number(document.body.dataset.refresh);
  if (seconds) setInterval(soon, seconds * 1000);

  // === times ===

  const UNITS = [
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];

  function words(at, tense) {
    const away = ((at - Date.now() - ahead) / 1000) * (tense === "ahead" ? 1 : -1);
    const [size, unit] = UNITS.find(([size]) => away >= size) ?? [];
    if (!size) return tense === "ahead" ? "now" : "just now";
    const span = `${Math.floor(away / size)} ${unit}`;
    return tense === "ahead" ? `in ${span}` : `${span} ago`;
  }

  function tick() {
    for (const time of document.querySelectorAll("time[data-relative]")) {
      const now = words(Date.parse(time.dateTime), time.dataset.relative);
      if (time.textContent !== now) time.textContent = now;
    }
  }

  setInterval(() => document.hidden || tick(), 1000);

  // === filtering while one types ===

  let typing = 0;

  function filter(form) {
    const wanted = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) wanted.append(name, value);
    const query = wanted.toString();
    history.replaceState(null, "", location.pathname + (query && `?${query}`));
    refresh();
  }

  document.addEventListener("input", ({ target }) => {
    const form = target.closest("form[data-filter]");
    if (!form) return;
    clearTimeout(typing);
    typing = setTimeout(filter, TYPING, form);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-filter]")) return;
    event.preventDefault();
    clearTimeout(typing);
    filter(event.target);
  });

  // === commands ===

  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-command]");
    if (button && button.getAttribute("aria-disabled") !== "true") command(button);
  });

  async function command(button) {
    const answer = document.getElementById("answer");
    button.setAttribute("aria-disabled", "true");
    answer.textContent = "…";
    try {
      const headers = { "Content-Type": "application/json", Accept: "application/json" };
      const response = await fetch(button.dataset.command, { method: "POST", headers, body: "{}" });
      const status = await response.json().catch(() => ({}));
      answer.textContent = status.message || response.statusText;
    } catch {
      answer.textContent = "The server does not answer.";
    } finally {
      button.setAttribute("aria-disabled", "false");
      soon();
    }
  }

  listen();
})();
