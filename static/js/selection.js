// Which trials are selected or pointed at: shared by the plots and the table, and kept in the address (?selected=).
// A row names its trials in data-trial, several ids with spaces between them.
(() => {
  const selected = new Set(new URLSearchParams(location.search).getAll("selected"));
  let marked = [];

  const idsOf = (row) => row.dataset.trial.split(" ").filter(Boolean);
  const rows = () => document.querySelectorAll("[data-trial]");
  const announce = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

  function paintRows() {
    for (const row of rows()) {
      const isSelected = idsOf(row).some((id) => selected.has(id));
      row.classList.toggle("is-selected", isSelected);
      row.classList.toggle("is-marked", idsOf(row).some((id) => marked.includes(id)));
      const box = row.querySelector("input[type=checkbox][data-select]");
      if (box) box.checked = isSelected;
    }
  }

  function writeAddress() {
    const address = new URL(location.href);
    address.searchParams.delete("selected");
    for (const id of selected) address.searchParams.append("selected", id);
    history.replaceState(history.state, "", address);
  }

  function set(ids, on) {
    for (const id of ids) {
      if (on) selected.add(id);
      else selected.delete(id);
    }
    writeAddress();
    paintRows();
    announce("tunerweb:selection", { ids: [...selected] });
  }

  function toggle(ids) {
    set(ids, !ids.every((id) => selected.has(id)));
  }

  function mark(ids, source) {
    if (ids.join(" ") === marked.join(" ")) return;
    marked = ids;
    paintRows();
    announce("tunerweb:mark", { ids, source });
  }

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (!box.matches("input[type=checkbox][data-select]")) return;
    const row = box.closest("[data-trial]");
    if (row) set(idsOf(row), box.checked);
  });

  for (const name of ["mouseover", "focusin"]) {
    document.addEventListener(name, (event) => {
      if (event.target.closest("[data-chart]")) return;
      const row = event.target.closest("[data-trial]");
      mark(row ? idsOf(row) : [], "table");
    });
  }

  // New rows arrive without their classes.
  for (const name of ["htmx:afterSettle", "htmx:oobAfterSwap", "htmx:wsAfterMessage"]) {
    document.addEventListener(name, paintRows);
  }
  paintRows();

  window.tunerwebSelection = { has: (id) => selected.has(id), toggle, mark };
})();
