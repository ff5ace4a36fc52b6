// Says when live updates are interrupted, and small conveniences that every page has.
(() => {
  // The websocket extension connects again by itself after these; after any other code it does not.
  const RECONNECTS = [1006, 1011, 1012, 1013];
  const SHOW_AFTER_MS = 600;
  const LONGEST_WAIT_MS = 5000;

  // Without this the extension waits up to a minute after some failures.
  htmx.config.wsReconnectDelay = (tries) => Math.min(LONGEST_WAIT_MS, 250 * 2 ** tries) * (0.5 + Math.random() / 2);

  let timer = 0;
  let leaving = false;

  // An update from the server keeps what a person has opened, is typing, or sees drawn by a script.
  Idiomorph.defaults.ignoreActiveValue = true;
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !(name === "open" && node.matches("details"));
  Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) =>
    !(node instanceof Element && node.matches("[data-chart-canvas], [data-chart-axes], .CodeMirror, details.confirm[open]"));

  const pill = () => document.querySelector("[data-live-pill]");

  function show(text) {
    const element = pill();
    if (!element) return;
    element.querySelector("[data-live-text]").textContent = text;
    element.hidden = false;
  }

  function hide() {
    window.clearTimeout(timer);
    const element = pill();
    if (element) element.hidden = true;
  }

  document.addEventListener("htmx:wsClose", (event) => {
    if (leaving) return;
    window.clearTimeout(timer);
    const code = event.detail.event ? event.detail.event.code : 1006;
    if (RECONNECTS.includes(code)) timer = window.setTimeout(() => show("reconnecting…"), SHOW_AFTER_MS);
    else show("Live updates have ended. Reload the page to see what is new.");
  });
  document.addEventListener("htmx:wsOpen", hide);
  window.addEventListener("pagehide", () => {
    leaving = true;
    hide();
  });
  window.addEventListener("pageshow", () => {
    leaving = false;
  });

  // Escape closes what is open in place: first a question, then the drawer (a link, so that Back works).
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const question = document.querySelector("details.confirm[open]");
    if (question) {
      question.open = false;
      question.querySelector("summary").focus();
      return;
    }
    if (event.target.matches("input, textarea, select")) return;
    const close = document.querySelector(".drawer [data-drawer-close]");
    if (close) close.click();
  });

  document.addEventListener("click", (event) => {
    for (const question of document.querySelectorAll("details.confirm[open]")) {
      if (!question.contains(event.target)) question.open = false;
    }
    const cancel = event.target.closest("[data-confirm-cancel]");
    if (cancel) {
      const question = cancel.closest("details");
      question.open = false;
      question.querySelector("summary").focus();
    }
  });
})();
