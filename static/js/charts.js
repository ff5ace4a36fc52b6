// Plots, declared in the page: <figure data-chart="scatter" data-source="<id of a json_script>">.
// Drawn on a canvas without any markup, so that a strict content policy holds; the page has the same values as a table.
(() => {
  const selection = window.tunerwebSelection;
  const { colours, metricsOf, options: optionsOf } = window.tunerwebPlots;
  const charts = new Map();

  function read(chart) {
    const source = document.getElementById(chart.element.dataset.source);
    const text = source ? source.textContent : "";
    if (text === chart.text) return false;
    chart.text = text;
    chart.data = text.trim() ? JSON.parse(text) : { metrics: [], kinds: [], points: [] };
    return true;
  }

  function draw(chart) {
    const options = optionsOf[chart.element.dataset.chart](chart, colours());
    options.tooltip.formatter = (hit) => (hit.data && hit.data.text) || "";
    chart.plot.setOption(options, { notMerge: true });
    // Without this a quick second click would meet the drawing before.
    chart.plot.getZr().flush();
    chart.element.dataset.drawn = String(chart.data.points.length);
  }

  function axisPicker(chart, which, label) {
    const picker = document.createElement("select");
    picker.className = "form-select";
    picker.setAttribute("aria-label", label);
    picker.addEventListener("change", () => {
      chart[which] = picker.value;
      const address = new URL(location.href);
      address.searchParams.set(`plot_${which}`, picker.value);
      history.replaceState(history.state, "", address);
      draw(chart);
    });
    return picker;
  }

  function fillPickers(chart) {
    if (!chart.pickers) return;
    metricsOf(chart).forEach((metric, index) => {
      const options = chart.data.metrics.map((each) => new Option(each.label, each.key, false, each === metric));
      chart.pickers[index].replaceChildren(...options);
    });
  }

  function addPickers(chart) {
    const place = chart.element.querySelector("[data-chart-axes]");
    if (!place || chart.element.dataset.chart !== "scatter") return;
    const wanted = new URLSearchParams(location.search);
    chart.x = wanted.get("plot_x") || chart.element.dataset.x;
    chart.y = wanted.get("plot_y") || chart.element.dataset.y;
    chart.pickers = [axisPicker(chart, "x", "Across"), axisPicker(chart, "y", "Up")];
    place.replaceChildren(chart.pickers[1], document.createTextNode(" over "), chart.pickers[0]);
  }

  function savePicture(chart) {
    const link = document.createElement("a");
    link.href = chart.plot.getDataURL({ pixelRatio: 2, backgroundColor: colours().surface });
    link.download = `${chart.element.id || "plot"}.png`;
    link.click();
  }

  function wire(chart) {
    chart.plot.on("click", (hit) => hit.data && hit.data.ids && selection.toggle(hit.data.ids));
    chart.plot.on("mouseover", (hit) => hit.data && hit.data.ids && selection.mark(hit.data.ids, chart.element));
    chart.plot.on("globalout", () => selection.mark([], chart.element));
    chart.plot.on("mouseout", () => selection.mark([], chart.element));
    const button = chart.element.querySelector("[data-chart-png]");
    if (button) button.addEventListener("click", () => savePicture(chart));
    new ResizeObserver(() => chart.plot.resize()).observe(chart.canvas);
  }

  function start(element) {
    const canvas = element.querySelector("[data-chart-canvas]");
    const chart = { element, canvas, plot: window.echarts.init(canvas, null, { renderer: "canvas" }), text: null };
    charts.set(element, chart);
    addPickers(chart);
    wire(chart);
    read(chart);
    fillPickers(chart);
    draw(chart);
  }

  function refresh() {
    for (const [element, chart] of charts) {
      if (!element.isConnected || !chart.canvas.isConnected || !chart.canvas.firstChild) {
        chart.plot.dispose();
        charts.delete(element);
      } else if (read(chart)) {
        fillPickers(chart);
        draw(chart);
      }
    }
    for (const element of document.querySelectorAll("[data-chart]")) {
      if (!charts.has(element)) start(element);
    }
  }

  function highlight(event) {
    for (const chart of charts.values()) {
      if (event.detail.source === chart.element) continue;
      chart.plot.dispatchAction({ type: "downplay" });
      (chart.plot.getOption().series || []).forEach((series, seriesIndex) => {
        const dataIndex = series.data
          .map((item, index) => (item.ids.some((id) => event.detail.ids.includes(id)) ? index : -1))
          .filter((index) => index >= 0);
        if (dataIndex.length) chart.plot.dispatchAction({ type: "highlight", seriesIndex, dataIndex });
      });
    }
  }

  const drawAll = () => charts.forEach(draw);
  document.addEventListener("tunerweb:theme", drawAll);
  document.addEventListener("tunerweb:selection", drawAll);
  document.addEventListener("tunerweb:mark", highlight);
  for (const name of ["htmx:afterSettle", "htmx:oobAfterSwap", "htmx:wsAfterMessage"]) {
    document.addEventListener(name, refresh);
  }
  refresh();
  document.fonts.ready.then(drawAll);
})();
