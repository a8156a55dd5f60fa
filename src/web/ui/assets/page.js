// Keeps the page up to date and sends commands. The server renders everything: after a change this
// script fetches the same page again and applies the differences.
"use strict";

(() => {
  const GAP = Number(document.body.dataset.gap) || 1000; // between two requests for the page, in milliseconds
  const RECONNECT = 3000; // after the server has refused the stream of events, in milliseconds
  const TYPING = 150;

  const root = document.documentElement;
  const main = document.getElementById("main");
  const live = document.getElementById("live");
  const announcer = document.getElementById("announcer");
  const ahead = Date.parse(document.body.dataset.now) - Date.now() || 0;

  let source = null; // of events
  let request = null; // for the page, in flight
  let timer = 0; // of the next request
  let asked = 0; // when the last request began
  let stale = false; // something has changed since

  root.classList.add("scripted");

  // === fetching the page again ===

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
      // The stream of events reconnects when the server is available again.
    } finally {
      if (mine === request) request = null;
      if (stale) soon();
    }
  }

  function show(text) {
    const next = new DOMParser().parseFromString(text, "text/html");
    const wanted = next.getElementById("main");
    if (!wanted) return;
    const before = announced(main);
    const focused = document.activeElement;
    update(main, wanted);
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
    document.title = next.title;
    const after = announced(main);
    if (after !== before) announcer.textContent = after;
    tick();
    count();
  }

  // The text for screen readers when it changes.
  function announced(within) {
    return [...within.querySelectorAll("[data-announce]")].map((it) => it.textContent).join(" ");
  }

  // === applying differences, so that focus, scrolling and input are kept ===

  function update(from, to) {
    if (from.isEqualNode(to) || from.dataset?.keep !== undefined) return;
    updateAttributes(from, to);
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
      // Keys are unique. If two are equal, the second is shown as well.
      if (key) keyed.delete(key);
      if (match === at) at = at.nextSibling;
      else from.insertBefore(match, at);
      if (match.nodeType === Node.ELEMENT_NODE) update(match, wanted);
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

  function updateAttributes(from, to) {
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
    for (const kind of ["hello", "reconcile", "phase", "gone", "operator", "type", "dropped"]) {
      source.addEventListener(kind, soon);
    }
    source.onopen = () => showState("Live");
    source.onerror = () => {
      showState("Not connected");
      if (source?.readyState === EventSource.CLOSED) {
        stop();
        setTimeout(listen, RECONNECT);
      }
    };
  }

  function stop() {
    source?.close();
    source = null;
  }

  function showState(state) {
    if (live.textContent !== state) live.textContent = state;
  }

  // A hidden page closes its connection: a browser allows only six per server.
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

  // === filtering during input ===

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

  // === copying ===

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("button[data-copy]");
    if (!button) return;
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    } catch {
      getSelection().selectAllChildren(code); // without a secure connection there is no clipboard
    }
  });

  // === commands ===

  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-command]");
    if (button) command(button, button.dataset.command, {});
  });

  // A command that asks first. The browser has checked what is required.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    const { command: path, bulk } = form.dataset;
    if (!path && !bulk) return;
    event.preventDefault();
    const body = {};
    for (const [name, value] of new FormData(form)) if (value) body[name] = value;
    const isDone = await (bulk ? commandAll(bulk, body) : command(form.querySelector("button"), path, body));
    if (isDone) form.closest("details").open = false;
  });

  async function command(button, path, body) {
    return busy([button], document.getElementById("answer"), async (show) => {
      const { isDone, text } = await send(path, body);
      show(text);
      return isDone;
    });
  }

  // The buttons do nothing else until it is done.
  async function busy(buttons, answer, work) {
    if (buttons.some((it) => it.getAttribute("aria-disabled") === "true")) return false;
    const disable = (is) => buttons.forEach((it) => it.setAttribute("aria-disabled", is));
    const show = (text) => (answer.textContent = text);
    disable(true);
    show("…");
    try {
      return await work(show);
    } finally {
      disable(false);
      soon();
    }
  }

  async function send(path, body) {
    try {
      const headers = { "Content-Type": "application/json", Accept: "application/json" };
      const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
      const status = await response.json().catch(() => ({}));
      return { isDone: response.ok, text: status.message || response.statusText };
    } catch {
      return { isDone: false, text: "The server does not answer." };
    }
  }

  // === commands for the selected parents: one after the other, so that each is checked and audited ===

  const boxes = () => [...main.querySelectorAll("tbody .select input")];

  function count() {
    const bulk = main.querySelector(".bulk");
    if (!bulk) return;
    const all = boxes();
    const selected = all.filter((box) => box.checked).length;
    bulk.hidden = !selected;
    bulk.querySelector("[data-selected]").textContent = `${selected} selected`;
    const head = main.querySelector("input[data-all]");
    if (!head) return;
    head.checked = selected > 0 && selected === all.length;
    head.indeterminate = selected > 0 && selected < all.length;
  }

  document.addEventListener("change", ({ target }) => {
    if (!target.closest(".select")) return;
    if (target.dataset.all !== undefined) for (const box of boxes()) box.checked = target.checked;
    count();
  });

  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-bulk]");
    if (button) commandAll(button.dataset.bulk, {});
  });

  async function commandAll(verb, body) {
    const selected = boxes().filter((box) => box.checked).map((box) => {
      const row = box.closest("tr");
      const path = row.querySelector("th a").getAttribute("href").replace("/ui/", "/api/v1/");
      return { box, key: row.dataset.key, path: `${path}/${verb}` };
    });
    const buttons = [...main.querySelectorAll(".bulk button")];
    return busy(buttons, document.getElementById("answers"), async (show) => {
      const failed = [];
      for (const [at, one] of selected.entries()) {
        main.querySelector("[data-selected]").textContent = `${at + 1} of ${selected.length}`;
        const { isDone, text } = await send(one.path, body);
        if (!isDone) failed.push({ ...one, text });
      }
      const done = `${selected.length - failed.length} done`;
      const lines = failed.map(({ key, text }) => `${key}: ${text}`);
      show(failed.length ? [`${done}, ${failed.length} failed:`, ...lines].join("\n") : `${done}.`);
      // Those that failed stay selected.
      if (failed.length) for (const { box } of selected) box.checked = failed.some((it) => it.box === box);
      count();
      return !failed.length;
    });
  }

  // === keys ===

  const keys = document.getElementById("keys");
  const used = document.getElementById("keys-used");
  const ROWS = "tbody th a, .cards h3 a, .reconcile summary";

  try {
    used.checked = localStorage.getItem("keys") !== "off";
    used.addEventListener("change", () => localStorage.setItem("keys", used.checked ? "on" : "off"));
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
  document.querySelector("[data-keys]").addEventListener("click", () => keys.showModal());

  function move(by) {
    const rows = [...main.querySelectorAll(ROWS)];
    const here = document.activeElement.closest("tr, .card, .reconcile");
    const at = rows.findIndex((it) => here?.contains(it));
    rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus();
  }

  const KEYS = {
    "/": () => document.querySelector(".find input").focus(),
    "?": () => keys.showModal(),
    j: () => move(1),
    k: () => move(-1),
  };

  document.addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, altKey, metaKey, isComposing } = event;
    const isTyping = target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]");
    if (!used.checked || keys.open || isTyping || ctrlKey || altKey || metaKey || isComposing) return;
    if (!Object.hasOwn(KEYS, key)) return;
    event.preventDefault();
    KEYS[key]();
  });

  count();
  listen();
})();
