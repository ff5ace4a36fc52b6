// The editor page of a config: takes over a text that the server made, and asks before an unsaved one is left.
(() => {
  const field = document.getElementById("config-text");
  const first = field.value;
  let isSaved = false;

  // At once, and told to the editor: a click on Save right after it must save this text.
  document.addEventListener("htmx:afterSwap", () => {
    const made = document.querySelector("[data-new-text]");
    if (!made) return;
    field.value = made.value;
    made.remove();
    document.dispatchEvent(new Event("tunerweb:text"));
  });
  // What was said of the text before is not said of the text now.
  field.addEventListener("input", () => {
    for (const note of document.querySelectorAll("#outcome > .note")) note.remove();
  });
  // The same file can be chosen again, such as after it was corrected.
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.target.type === "file") event.target.value = "";
  });
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    if (event.detail.xhr.getResponseHeader("HX-Redirect")) isSaved = true;
  });
  // Checks that fail while a person types are made up for by the next one; what was asked for by a button is not.
  function tell(event) {
    const status = event.detail.xhr.status;
    const isTooLarge = status === 400 || status === 413;
    if (!isTooLarge && !event.detail.elt.matches("form, input[type=file]")) return;
    const note = document.createElement("div");
    note.className = "note note-error";
    note.textContent =
      status === 0
        ? "The server did not answer. The text is still here; try again in a moment."
        : isTooLarge
          ? "The server did not take this: it is too large. The text is still here."
          : `The server could not do this (${status}). The text is still here; copy it before you reload the page.`;
    document.getElementById("outcome").replaceChildren(note);
  }
  document.addEventListener("htmx:responseError", tell);
  document.addEventListener("htmx:sendError", tell);
  window.addEventListener("beforeunload", (event) => {
    if (!isSaved && field.value !== first) event.preventDefault();
  });
})();
