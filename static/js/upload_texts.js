// The sentences of an upload: sizes, time left, and what went wrong.
(() => {
  function bytes(value) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let size = value;
    let power = 0;
    while (Math.round(size) >= 1024 && power < units.length - 1) {
      size /= 1024;
      power += 1;
    }
    const decimals = Number.isInteger(size) ? 0 : size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return `${size.toFixed(decimals)} ${units[power]}`;
  }

  function timeLeft(seconds) {
    if (!Number.isFinite(seconds)) return "";
    if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s left`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s left`;
    return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min left`;
  }

  // A server's own sentence is the best one, as long as it is a sentence and not a page.
  function sentenceOf(body) {
    const text = (body || "").trim();
    if (!text) return "";
    if (!text.startsWith("<")) return text.length < 400 && !text.startsWith("{") ? text : "";
    const page = new DOMParser().parseFromString(text, "text/html");
    const found = page.querySelector(".error-what, .field-error, .errorlist li, .note-error");
    return found ? found.textContent.trim() : "";
  }

  function explain(status, body, limit) {
    if (status === 401 || status === 403) return "You are not signed in any more. Sign in in another tab, then try again.";
    const said = sentenceOf(body);
    if (said) return said;
    if (status === 413) return `The server takes files up to ${bytes(limit)}.`;
    if (status === 507) return "The server has no room left on its disk. Its admin can free some; then try again.";
    if (status >= 500) return `The server failed while it took this file (error ${status}). Try again; what has arrived is kept.`;
    if (status) return `The server refused this file (error ${status}).`;
    return "The server cannot be reached. Check the connection and try again; what has arrived is kept.";
  }

  window.tunerwebUploadTexts = { bytes, timeLeft, explain };
})();
