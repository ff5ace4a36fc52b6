// Copies a secret that is shown once; sends a form once however often its button is pressed.
(() => {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-submit-once]")) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });

  // Back shows the page as it was left: its forms can be sent again.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("[data-sent]")) delete form.dataset.sent;
  });

  // navigator.clipboard exists on https and on localhost only; a selected text can be copied anywhere.
  async function copy(field) {
    field.select();
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(field.value);
      return true;
    }
    return document.execCommand("copy");
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const done = await copy(document.getElementById(button.dataset.copy)).catch(() => false);
    button.querySelector("[data-copy-text]").textContent = done ? "Copied" : "Press Ctrl+C";
  });

  const secret = document.querySelector("[data-secret]");
  if (secret) secret.select();
})();
