// Writes down what the rows of a sweep's page show, each time that it changes, from the first paint on.
(() => {
  if (!/^\/sweeps\/[^/]+\/$/.test(location.pathname) || location.pathname.startsWith("/sweeps/new/")) return;
  const told = { states: {}, trialOrders: [], rankings: [], filled: 0 };
  window.told = told;

  function add(list, value) {
    if (list.at(-1) !== value) list.push(value);
  }

  function look() {
    const rows = [...document.querySelectorAll("#trials tbody tr")];
    if (!rows.length) return;
    add(told.trialOrders, rows.map((row) => row.id).join(" "));
    for (const row of rows) {
      const label = row.querySelector("th a").textContent;
      add((told.states[label] ||= []), row.querySelector(".state > span").textContent);
    }
    const isRunning = Boolean(document.querySelector("#sweep-verdict.is-running"));
    const lines = [...document.querySelectorAll("#ranking tr[data-trial]")].map((line) => line.dataset.trial);
    add(told.rankings, JSON.stringify([isRunning, lines]));
  }

  document.addEventListener("DOMContentLoaded", () => {
    look();
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
})();
