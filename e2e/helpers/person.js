// Somebody at a browser. What must never happen on any page is written down as it happens, and fails the test at its end.

export class Person {
  complaints = [];
  #excused = [];

  /** A new window with cookies of its own, for pages of one origin. */
  static async enter(browser, origin, name, options = {}) {
    const person = new Person();
    Object.assign(person, { origin, name });
    person.context = await browser.newContext({
      baseURL: origin,
      ignoreHTTPSErrors: true,
      viewport: { width: 1280, height: 900 },
      colorScheme: "light",
      reducedMotion: "reduce",
      ...options,
    });
    person.context.setDefaultTimeout(20_000);
    await person.#watch();
    person.page = await person.context.newPage();
    return person;
  }

  async #watch() {
    const { context } = this;
    context.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== "data:" && protocol !== "blob:" && origin !== this.origin) this.#complain(`asks another host: ${request.url()}`);
    });
    context.on("console", (message) => {
      if (message.type() === "error") this.#complain(`console: ${message.text()} (${message.location().url})`);
    });
    context.on("weberror", (error) => this.#complain(`script: ${error.error().stack}`));
    await context.exposeBinding("violated", (_, text) => this.#complain(`content policy: ${text}`));
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        window.violated(`${event.violatedDirective} by ${event.blockedURI} ${event.sourceFile ?? ""}`);
      });
    });
  }

  #complain(text) {
    if (!this.#excused.some((pattern) => pattern.test(text))) this.complaints.push(`${this.name}: ${text}`);
  }

  /** From now on this is part of the story: a refused page, say, of which browsers write on the console. */
  excuses(...patterns) {
    this.#excused.push(...patterns);
  }

  /** Goes to an address; its status. */
  async goes(path) {
    return (await this.page.goto(path)).status();
  }

  /** The heading of the page. */
  heading() {
    return this.page.locator("h1").innerText();
  }

  /** Clicks, and waits for the page that follows. */
  async follows(locator) {
    await Promise.all([this.page.waitForEvent("load"), locator.click()]);
  }
}
