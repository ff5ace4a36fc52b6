// What the plots of charts.js look like: from the data of one plot to the options of ECharts.
(() => {
  const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
  const MOST_NAMES = 3;
  const selection = window.tunerwebSelection;

  // ---- numbers and colours -----------------------------------------------------------------------------------

  const known = (value) => typeof value === "number" && Number.isFinite(value);

  function unitFor(unit, values) {
    if (unit !== "bytes") return { name: unit, size: 1 };
    const largest = Math.max(1, ...values.map(Math.abs));
    const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(largest) / 10));
    return { name: BYTE_UNITS[power], size: 1024 ** power };
  }

  const figure = (value) =>
    value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) >= 100 ? 1 : 3 }).replace("-", "\u2212");
  const exact = (value, unit) => `${value.toLocaleString("en").replace("-", "\u2212")} ${unit}`;

  function withUnit(value, metric, unit) {
    const mark = metric.origin === "simulated" ? "~ " : "";
    const text = `${mark}${figure(value / unit.size)} ${unit.name}`;
    return metric.unit === "bytes" && unit.size > 1 ? `${text} (${exact(value, "bytes")})` : text;
  }

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const names = ["ink", "quiet", "line", "line-strong", "surface", "accent", "mark"];
    const found = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--tw-${name}`).trim()]));
    found.series = [1, 2, 3, 4, 5].map((n) => style.getPropertyValue(`--tw-chart-${n}`).trim());
    found.font = getComputedStyle(document.body).fontFamily;
    return found;
  }

  // ---- what both plots share ----------------------------------------------------------------------------------

  // Equal results are one mark: fifteen points in one place would look like one.
  function grouped(points, keyOf) {
    const groups = new Map();
    for (const point of points) {
      const key = keyOf(point);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(point);
    }
    return [...groups.values()];
  }

  function nameOf(group) {
    const labels = group.map((point) => point.label);
    if (labels.length > MOST_NAMES) return `${labels[0]} +${labels.length - 1}`;
    const short = labels.map((label, index) => (index && label.startsWith("P ") ? label.slice(2) : label));
    return short.join(", ");
  }

  const idsOf = (group) => group.map((point) => point.id);
  const isSelected = (group) => group.some((point) => selection.has(point.id));

  function frame(c) {
    return {
      animation: false,
      textStyle: { fontFamily: c.font, color: c.ink, fontSize: 11 },
      tooltip: {
        renderMode: "richText",
        confine: true,
        backgroundColor: c.surface,
        borderColor: c["line-strong"],
        borderWidth: 1,
        padding: [6, 9],
        textStyle: { color: c.ink, fontSize: 12, fontFamily: c.font, lineHeight: 17, width: 300, overflow: "break" },
      },
      legend: {
        bottom: 0,
        left: 0,
        itemWidth: 11,
        itemHeight: 9,
        itemGap: 12,
        textStyle: { color: c.quiet, fontSize: 11 },
        inactiveColor: c["line-strong"],
      },
    };
  }

  function axis(c, name, more) {
    return {
      name,
      nameLocation: "middle",
      nameTextStyle: { color: c.quiet, fontSize: 11 },
      axisLine: { show: true, lineStyle: { color: c["line-strong"] } },
      axisTick: { show: false },
      axisLabel: { color: c.quiet, fontSize: 11, hideOverlap: true },
      splitLine: { lineStyle: { color: c.line } },
      ...more,
    };
  }

  const VALUES = { type: "value", scale: true, splitNumber: 4 };

  // ---- scatter ------------------------------------------------------------------------------------------------

  const KINDS = [
    { name: "trials", symbol: "circle", has: () => true },
    { name: "left out", symbol: "triangle", has: (point) => point.excluded },
    { name: "as given", symbol: "rect", has: (point) => point.as_given },
    { name: "baseline", symbol: "diamond", has: (point) => point.baseline },
  ];

  const kindOf = (group) => [...KINDS].reverse().find((kind) => group.some((point) => kind.has(point)));

  const colourOf = (kind, c) => ({ trials: c.series[0], "left out": c.quiet })[kind.name] || c.mark;

  function metricsOf(chart) {
    const { data } = chart;
    const find = (key, fallback) => data.metrics.find((metric) => metric.key === key) || data.metrics[fallback];
    return [find(chart.x, 0), find(chart.y, Math.min(1, data.metrics.length - 1))];
  }

  function scatterItem(group, x, y, units, c) {
    const kind = kindOf(group);
    const chosen = isSelected(group);
    const colour = colourOf(kind, c);
    return {
      value: [group[0].values[x.key] / units[0].size, group[0].values[y.key] / units[1].size],
      name: nameOf(group),
      ids: idsOf(group),
      text: [
        group.map((point) => point.label).join(", "),
        `${x.label}: ${withUnit(group[0].values[x.key], x, units[0])}`,
        `${y.label}: ${withUnit(group[0].values[y.key], y, units[1])}`,
        ...(group.length > 1 ? [`${group.length} trials with the same values`] : []),
        ...(kind.name === "left out" ? ["left out of the ranking"] : []),
      ].join("\n"),
      symbolSize: (group.length > 1 ? 13 : 10) + (kind.symbol === "diamond" ? 3 : 0),
      itemStyle: {
        color: kind.name === "left out" ? "transparent" : colour,
        borderColor: chosen ? c.ink : colour,
        borderWidth: chosen ? 2.5 : 1.5,
        opacity: 0.9,
      },
    };
  }

  function baselineLines(groups, x, y, units, c) {
    const group = groups.find((members) => members.some((point) => point.baseline));
    if (!group) return undefined;
    return {
      silent: true,
      symbol: "none",
      label: { show: false },
      lineStyle: { color: c["line-strong"], type: "dashed", width: 1 },
      data: [
        { xAxis: group[0].values[x.key] / units[0].size },
        { yAxis: group[0].values[y.key] / units[1].size },
      ],
    };
  }

  function scatter(chart, c) {
    const { data } = chart;
    const [x, y] = metricsOf(chart);
    if (!x) return frame(c);
    const drawn = data.points.filter((point) => known(point.values[x.key]) && known(point.values[y.key]));
    const units = [x, y].map((metric) => unitFor(metric.unit, drawn.map((point) => point.values[metric.key])));
    const groups = grouped(drawn, (point) => `${point.values[x.key]} ${point.values[y.key]}`);
    const used = KINDS.filter((kind) => groups.some((group) => kindOf(group) === kind));
    const title = (metric, unit) => `${metric.origin === "simulated" ? "~ " : ""}${metric.label} (${unit.name})`;
    note(chart, data.points.length - drawn.length);
    return {
      ...frame(c),
      grid: { left: 14, right: 18, top: 30, bottom: 50, containLabel: true },
      legend: { ...frame(c).legend, show: used.length > 1, selectedMode: false },
      xAxis: axis(c, title(x, units[0]), { ...VALUES, boundaryGap: ["6%", "12%"], nameGap: 24 }),
      yAxis: axis(c, title(y, units[1]), { ...VALUES, boundaryGap: ["8%", "8%"], nameGap: 10, nameLocation: "end", nameTextStyle: { color: c.quiet, fontSize: 11, align: "left", padding: [0, 0, 0, -44] } }),
      series: used.map((kind, index) => ({
        type: "scatter",
        name: kind.name,
        symbol: kind.symbol,
        color: colourOf(kind, c),
        data: groups.filter((group) => kindOf(group) === kind).map((group) => scatterItem(group, x, y, units, c)),
        label: { show: true, position: "right", distance: 5, color: c.quiet, fontSize: 11, formatter: "{b}" },
        labelLayout: { hideOverlap: true },
        emphasis: { scale: 1.35, label: { color: c.ink, fontWeight: 600 } },
        markLine: index === 0 ? baselineLines(groups, x, y, units, c) : undefined,
      })),
    };
  }

  // ---- stacked bars -------------------------------------------------------------------------------------------

  function stackedBars(chart, c) {
    const { data } = chart;
    const drawn = data.points.filter((point) => data.kinds.some((kind) => known((point.kinds || {})[kind.key])));
    const groups = grouped(drawn, (point) => data.kinds.map((kind) => point.kinds[kind.key]).join(" "));
    const total = (group) => data.kinds.reduce((sum, kind) => sum + (group[0].kinds[kind.key] || 0), 0);
    const unit = unitFor("bytes", groups.map(total));
    const bytes = { unit: "bytes", origin: "exact" };
    note(chart, data.points.length - drawn.length);
    const text = (group) =>
      [
        group.map((point) => point.label).join(", "),
        ...data.kinds.map((kind) => `${kind.label}: ${withUnit(group[0].kinds[kind.key] || 0, bytes, unit)}`),
        `RAM: ${withUnit(total(group), bytes, unit)}`,
      ].join("\n");
    return {
      ...frame(c),
      grid: { left: 8, right: 18, top: 8, bottom: 62, containLabel: true },
      xAxis: axis(c, unit.name, { type: "value", nameGap: 22, splitNumber: 4 }),
      yAxis: axis(c, "", {
        type: "category",
        inverse: true,
        data: groups.map(nameOf),
        splitLine: { show: false },
        axisLabel: { color: c.quiet, fontSize: 11, interval: groups.length > 26 ? "auto" : 0 },
      }),
      series: data.kinds.map((kind, index) => ({
        type: "bar",
        stack: "all",
        name: kind.label,
        color: c.series[index % c.series.length],
        barMaxWidth: 14,
        barCategoryGap: "25%",
        itemStyle: { borderColor: c.surface, borderWidth: 0.5 },
        emphasis: { itemStyle: { borderColor: c.ink, borderWidth: 1 } },
        data: groups.map((group) => ({
          value: (group[0].kinds[kind.key] || 0) / unit.size,
          ids: idsOf(group),
          text: text(group),
          itemStyle: isSelected(group) ? { borderColor: c.ink, borderWidth: 1.5 } : undefined,
        })),
      })),
    };
  }

  function note(chart, without) {
    const place = chart.element.querySelector("[data-chart-missing]");
    if (!place) return;
    place.textContent = without ? `${without} ${without === 1 ? "trial has" : "trials have"} no value here.` : "";
  }

  window.tunerwebPlots = { colours, metricsOf, options: { scatter, "stacked-bars": stackedBars } };
})();
