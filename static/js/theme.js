// Loaded blocking in the head, so that the first paint already has the right colours.
(() => {
  const KEY = "tunerweb-theme";
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function stored() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function store(theme) {
    try {
      if (theme === systemTheme()) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, theme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  }

  const systemTheme = () => (system.matches ? "dark" : "light");

  function apply(theme) {
    root.dataset.bsTheme = theme;
    document.dispatchEvent(new CustomEvent("tunerweb:theme", { detail: { theme } }));
  }

  apply(stored() || systemTheme());

  system.addEventListener("change", () => {
    if (!stored()) apply(systemTheme());
  });
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) apply(event.newValue || systemTheme());
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const theme = root.dataset.bsTheme === "dark" ? "light" : "dark";
    store(theme);
    apply(theme);
  });
})();
