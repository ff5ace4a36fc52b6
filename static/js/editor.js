// Turns <textarea data-editor="json"> into an editor. The textarea stays the form's field: it has the text after every
// change and says so with `input`. Findings come from [data-findings="<textarea id>"] with a json_script inside.
(() => {
  const SEVERITY = { problem: "error", warning: "warning", note: "note" };
  const editors = new Map();

  function findingsFor(textarea) {
    const place = document.querySelector(`[data-findings="${CSS.escape(textarea.id)}"]`);
    const source = place && place.querySelector('script[type="application/json"]');
    return source && source.textContent.trim() ? JSON.parse(source.textContent) : [];
  }

  // `graphs[0].vtcm_mb` → the line where the key stands, by walking the text key by key.
  function lineOf(text, path) {
    const keys = (path || "").match(/[^.[\]]+/g) || [];
    let at = 0;
    for (const key of keys) {
      if (/^\d+$/.test(key)) continue;
      const name = key.replace(/^['"]|['"]$/g, "");
      const next = text.indexOf(JSON.stringify(name), at);
      if (next < 0) break;
      at = next;
    }
    return text.slice(0, at).split("\n").length;
  }

  function annotations(text, textarea) {
    const last = text.split("\n").length;
    return findingsFor(textarea).map((finding) => {
      const line = Math.min(last, finding.line || lineOf(text, finding.path)) - 1;
      return {
        message: finding.sentence,
        severity: SEVERITY[finding.kind] || "note",
        from: CodeMirror.Pos(line, 0),
        to: CodeMirror.Pos(line),
      };
    });
  }

  function start(textarea) {
    const label = document.querySelector(`label[for="${CSS.escape(textarea.id)}"]`);
    const editor = CodeMirror.fromTextArea(textarea, {
      mode: { name: "javascript", json: true },
      lineNumbers: true,
      lineWrapping: false,
      matchBrackets: true,
      tabSize: 2,
      indentUnit: 2,
      viewportMargin: 50,
      readOnly: textarea.readOnly || textarea.disabled,
      gutters: ["CodeMirror-lint-markers", "CodeMirror-linenumbers"],
      // Tab leaves the editor, as everywhere else on the page.
      extraKeys: { Tab: false, "Shift-Tab": false },
      lint: { getAnnotations: (text) => annotations(text, textarea), lintOnChange: false },
      screenReaderLabel: label ? label.textContent.trim() : textarea.getAttribute("aria-label") || "JSON",
    });
    editors.set(textarea, editor);
    editor.on("change", (_, change) => {
      editor.save();
      if (change.origin !== "setValue") textarea.dispatchEvent(new Event("input", { bubbles: true }));
    });
    if (label) label.addEventListener("click", () => editor.focus());
  }

  function refresh() {
    for (const [textarea, editor] of editors) {
      if (!textarea.isConnected) {
        editors.delete(textarea);
        continue;
      }
      // The server may have put another text into the field, such as after a fix.
      const replaced = textarea.value !== editor.getValue() && !editor.hasFocus();
      if (replaced) editor.setValue(textarea.value);
      editor.performLint();
    }
    for (const textarea of document.querySelectorAll('textarea[data-editor="json"]')) {
      if (!editors.has(textarea)) start(textarea);
    }
  }

  document.addEventListener("htmx:afterSettle", refresh);
  document.addEventListener("htmx:oobAfterSwap", refresh);
  document.addEventListener("tunerweb:text", refresh);
  // A closed <details> or tab has no size while it is hidden.
  document.addEventListener("toggle", () => editors.forEach((editor) => editor.refresh()), true);
  refresh();
})();
