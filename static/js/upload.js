// Uploads that survive a lost connection and a reload: <form data-upload>, see templates/components/upload.html.
(() => {
  const CHUNK = 8 * 1024 * 1024;
  const RETRY_DELAYS = [0, 1000, 3000, 5000, 10000, 20000];
  const RATE_WINDOW_MS = 5000;
  const PAINT_EVERY_MS = 250;
  const KEPT_FOR_MS = 24 * 3600 * 1000;

  const { bytes, timeLeft, explain } = window.tunerwebUploadTexts;

  // ---- one file -----------------------------------------------------------------------------------------------

  class Item {
    constructor(file, form) {
      this.file = file;
      this.form = form;
      this.state = "chosen";
      this.samples = [];
      this.painted = 0;
      this.row = form.rowTemplate.content.firstElementChild.cloneNode(true);
      this.row.querySelector(".upload-name").textContent = file.name;
      this.row.querySelector("progress").setAttribute("aria-label", `Upload of ${file.name}`);
      this.row.addEventListener("click", (event) => this.act(event.target.dataset.act));
      for (const button of this.row.querySelectorAll("button")) {
        button.setAttribute("aria-label", `${button.textContent} ${file.name}`);
      }
      this.refused = this.refusal();
      if (this.refused) this.become("refused", this.refused);
      else this.become("chosen", bytes(file.size));
    }

    refusal() {
      const limit = this.form.maxBytes;
      if (this.file.size === 0) return `${this.file.name} is empty.`;
      if (this.file.size <= limit) return "";
      return `${this.file.name} is ${bytes(this.file.size)}; this server takes files up to ${bytes(limit)}.`;
    }

    become(state, text) {
      this.state = state;
      this.row.dataset.state = state;
      const shown = {
        pause: state === "sending",
        resume: state === "paused",
        retry: state === "failed",
        cancel: state !== "done",
      };
      for (const [act, isShown] of Object.entries(shown)) {
        this.row.querySelector(`[data-act="${act}"]`).hidden = !isShown;
      }
      const line = this.row.querySelector(".upload-text");
      line.textContent = text;
      line.classList.toggle("field-error", state === "failed" || state === "refused");
      const meter = this.row.querySelector("progress");
      meter.classList.toggle("meter-done", state === "done");
      meter.hidden = state === "refused" || state === "chosen";
      this.form.paint();
    }

    act(name) {
      if (name === "pause") {
        this.upload.abort();
        this.become("paused", `paused at ${bytes(this.sent || 0)} of ${bytes(this.file.size)}`);
        this.form.next();
      } else if (name === "resume" || name === "retry") {
        this.become("waiting", "waiting for its turn");
        this.form.next();
      } else if (name === "cancel") {
        this.cancel();
      }
    }

    cancel() {
      const begun = this.upload && this.upload.url;
      // What the server has of it is given up, too; if that fails it runs out by itself.
      if (this.upload) this.upload.abort(Boolean(begun)).catch(() => undefined);
      this.form.remove(this);
    }

    async start() {
      this.become("sending", "connecting…");
      this.samples = [];
      if (!this.upload) {
        this.upload = this.makeUpload();
        const previous = await this.upload.findPreviousUploads();
        if (previous.length) this.upload.resumeFromPreviousUpload(previous[0]);
        if (this.state !== "sending") return;
      }
      this.upload.start();
    }

    makeUpload() {
      return new tus.Upload(this.file, {
        endpoint: this.form.endpoint,
        chunkSize: CHUNK,
        retryDelays: RETRY_DELAYS,
        removeFingerprintOnSuccess: false,
        headers: { "X-CSRFToken": this.form.token() },
        metadata: { filename: this.file.name },
        onProgress: (sent) => this.progress(sent),
        onShouldRetry: (error) => this.shouldRetry(error),
        onSuccess: () => this.finish(),
        onError: (error) => this.fail(error),
      });
    }

    progress(sent) {
      const now = performance.now();
      this.sent = sent;
      this.samples.push([now, sent]);
      while (this.samples.length > 2 && now - this.samples[0][0] > RATE_WINDOW_MS) this.samples.shift();
      if (now - this.painted < PAINT_EVERY_MS || this.state !== "sending") return;
      this.painted = now;
      const [since, before] = this.samples[0];
      const rate = now > since ? (1000 * (sent - before)) / (now - since) : 0;
      const parts = [`${bytes(sent)} of ${bytes(this.file.size)}`];
      if (rate > 0) parts.push(`${bytes(rate)}/s`, timeLeft((this.file.size - sent) / rate));
      this.row.querySelector("progress").value = sent / this.file.size;
      this.row.querySelector(".upload-text").textContent = parts.filter(Boolean).join(" · ");
    }

    shouldRetry(error) {
      const status = error.originalResponse ? error.originalResponse.getStatus() : 0;
      const again = status === 0 || status >= 500 || [409, 423, 429].includes(status);
      if (again && this.state === "sending") {
        this.row.querySelector(".upload-text").textContent = "connection lost, trying again…";
      }
      return again && status !== 507;
    }

    finish() {
      this.row.querySelector("progress").value = 1;
      this.become("done", `${bytes(this.file.size)} uploaded`);
      this.form.say(`${this.file.name} is uploaded.`);
      this.form.next();
    }

    fail(error) {
      const response = error.originalResponse;
      const status = response ? response.getStatus() : 0;
      this.become("failed", explain(status, response && response.getBody(), this.form.maxBytes));
      this.form.say(`${this.file.name} could not be uploaded.`);
      this.form.next();
    }

    get id() {
      return new URL(this.upload.url, location.href).pathname.split("/").filter(Boolean).pop();
    }

    async forget() {
      const storage = tus.defaultOptions.urlStorage;
      const previous = await this.upload.findPreviousUploads();
      await Promise.all(previous.map((each) => storage.removeUpload(each.urlStorageKey)));
    }
  }

  // ---- the form -----------------------------------------------------------------------------------------------

  class Form {
    constructor(element) {
      this.element = element;
      this.items = [];
      this.started = false;
      this.maxBytes = Number(element.dataset.maxBytes) || Infinity;
      this.endpoint = new URL(element.dataset.endpoint, location.href).href;
      this.rowTemplate = element.querySelector("template[data-upload-row]");
      this.list = element.querySelector("[data-upload-list]");
      this.send = element.querySelector("[data-upload-send]");
      this.wire();
      this.tellEarlier();
    }

    token() {
      return this.element.querySelector("[name=csrfmiddlewaretoken]").value;
    }

    wire() {
      const input = this.element.querySelector("[data-upload-input]");
      const drop = this.element.querySelector("[data-upload-drop]");
      input.addEventListener("change", () => {
        this.add(input.files);
        input.value = "";
      });
      for (const name of ["dragenter", "dragover"]) {
        drop.addEventListener(name, (event) => {
          event.preventDefault();
          drop.classList.add("is-over");
        });
      }
      for (const name of ["dragleave", "drop"]) {
        drop.addEventListener(name, () => drop.classList.remove("is-over"));
      }
      drop.addEventListener("drop", (event) => {
        event.preventDefault();
        this.add(event.dataTransfer.files);
      });
      this.element.addEventListener("submit", (event) => event.preventDefault());
      this.send.addEventListener("click", () => this.begin());
    }

    add(files) {
      for (const file of files) {
        const same = this.items.find((item) => item.file.name === file.name);
        if (same && same.state !== "chosen" && same.state !== "refused") continue;
        if (same) this.remove(same);
        const item = new Item(file, this);
        this.items.push(item);
        this.list.append(item.row);
        if (this.started && item.state === "chosen") item.become("waiting", "waiting for its turn");
      }
      this.paint();
      if (this.started) this.next();
    }

    remove(item) {
      this.items = this.items.filter((each) => each !== item);
      item.row.remove();
      if (!this.items.length) this.started = false;
      this.paint();
      if (this.started) this.next();
    }

    begin() {
      this.started = true;
      this.error("");
      for (const item of this.items) {
        if (item.state === "chosen") item.become("waiting", "waiting for its turn");
      }
      this.next();
    }

    // One file at a time: the rate and the time left mean something, and the first is ready the soonest.
    next() {
      if (!this.started || this.items.some((item) => item.state === "sending")) return;
      const waiting = this.items.find((item) => item.state === "waiting");
      const taken = this.items.filter((item) => item.state !== "refused");
      if (waiting) waiting.start();
      else if (taken.length && taken.every((item) => item.state === "done")) this.finish();
    }

    async finish() {
      this.send.disabled = true;
      const done = this.items.filter((item) => item.state === "done");
      const body = new FormData(this.element);
      for (const item of done) body.append("upload", item.id);
      try {
        const headers = { "HX-Request": "true", "X-CSRFToken": this.token() };
        const answer = await fetch(this.element.dataset.doneUrl, { method: "POST", body, headers });
        const target = answer.headers.get("HX-Redirect") || answer.headers.get("Location") || (answer.redirected && answer.url);
        if (!answer.ok || !target) throw new Refusal(explain(answer.status, await answer.text(), this.maxBytes));
        await Promise.all(done.map((item) => item.forget()));
        location.assign(target);
      } catch (problem) {
        this.error(problem instanceof Refusal ? problem.message : explain(0, "", this.maxBytes));
        this.started = false;
        this.paint();
      }
    }

    paint() {
      const taken = this.items.filter((item) => item.state !== "refused");
      const total = taken.reduce((sum, item) => sum + item.file.size, 0);
      const files = taken.length === 1 ? "1 file" : `${taken.length} files`;
      const allDone = taken.length > 0 && taken.every((item) => item.state === "done");
      this.send.disabled = this.started || !taken.length;
      if (this.started) this.send.textContent = `Uploading ${files}…`;
      else if (allDone) this.send.textContent = "Try again";
      else this.send.textContent = taken.length ? `Upload ${files} (${bytes(total)})` : "Upload";
    }

    say(text) {
      this.element.querySelector("[data-upload-status]").textContent = text;
    }

    error(text) {
      this.element.querySelector("[data-upload-error]").textContent = text;
    }

    async tellEarlier() {
      const storage = tus.defaultOptions.urlStorage;
      const names = [];
      for (const each of await storage.findAllUploads()) {
        if (Date.now() - new Date(each.creationTime).getTime() > KEPT_FOR_MS) await storage.removeUpload(each.urlStorageKey);
        else names.push(each.metadata.filename);
      }
      if (!names.length) return;
      const which = [...new Set(names)].join(", ");
      this.element.querySelector("[data-upload-earlier]").textContent =
        `Not finished: ${which}. Choose the same file again to go on where it stopped.`;
    }
  }

  class Refusal extends Error {}

  for (const element of document.querySelectorAll("form[data-upload]")) new Form(element);
})();
