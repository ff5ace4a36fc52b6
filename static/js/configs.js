// The editor page of a config: takes over a text that the server made, and asks before an unsaved one is left.
(() => {
  const field = document.getElementById("config-text");
  const first = field.value;
  let isSaved = false;

  // Before editor.js looks at the field, which it does when the answer has settled.
  document.addEventListener("htmx:afterSwap", () => {
    const made = document.querySelector("[data-new-text]");
    if (!made) return;
    field.value = made.value;
    made.remove();
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
  window.addEventListener("beforeunload", (event) => {
    if (!isSaved && field.value !== first) event.preventDefault();
  });
})();
