/**
 * Users of the accounts example, without a browser.
 */
/** A client with cookies, without a browser. */
export class AccountsUser {
  readonly email: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies = new Map<string, string>();
  readonly #address: string;

  constructor(address: string, id: number) {
    this.#address = address;
    this.email = `ada-${id}@example.com`;
    this.headers = { "x-forwarded-for": `203.0.113.${id}` };
  }

  /** Calls a function. */
  async call(name: string, args: object): Promise<{ status: number; body: unknown }> {
    const headers = { "content-type": "application/json" };
    const { status, text } = await this.#fetch(`/__web/rpc/${name}`, { headers, body: JSON.stringify({ args }) });
    return { status, body: JSON.parse(text) };
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}) {
    return this.#fetch(path, { headers });
  }

  /** Sends a form to an address. */
  post(path: string, fields: Readonly<Record<string, string>>) {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return this.#fetch(path, { headers: { origin: this.#address }, body });
  }

  /** Opens a page, sends its form of a function, and follows redirects. Returns the last response and its path. */
  async send(fn: string, page: string, fields: Readonly<Record<string, string>>) {
    const [, action] = new RegExp(`action="([^"]*__form=${fn}[^"]*)"`).exec((await this.get(page)).text) ?? [];
    if (!action) throw new Error(`${page} has no form of ${fn}.`);
    let path = page;
    let response = await this.post(action.replaceAll("&amp;", "&"), fields);
    for (let steps = 0; response.location !== null && steps < 5; steps++) {
      path = response.location;
      response = await this.get(path);
    }
    return { ...response, path };
  }

  /** The cookies, for a browser. */
  browserCookies() {
    return [...this.cookies].map(([name, value]) => ({ name, value, url: this.#address }));
  }

  async #fetch(path: string, { headers = {}, body }: { headers?: Record<string, string>; body?: BodyInit } = {}) {
    const cookie = [...this.cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(this.#address + path, {
      redirect: "manual",
      headers: { ...this.headers, ...headers, ...(cookie && { cookie }) },
      ...(body && { method: "POST", body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, location: response.headers.get("location"), text: await response.text() };
  }
}
