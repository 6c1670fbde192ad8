import { beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../config.ts";
import { RequestContext, runInContext } from "../http/index.ts";
import { session } from "./session.ts";

const config = loadConfig({ WEB_AUTH_SECRET: "ab".repeat(32) }, { built: false, projectDir: "/app" });

function contextWith(cookie?: string): RequestContext {
  const request = new Request("http://localhost/", { headers: cookie ? { cookie } : {} });
  return new RequestContext({ request, url: new URL(request.url), id: "1", traceparent: "", address: "::1", config });
}

describe("session", () => {
  let context: RequestContext;
  beforeEach(() => {
    context = contextWith();
  });

  it("comes back in the next request", () => {
    runInContext(context, () => session.login("ada@example.org", { name: "Ada", roles: ["admin"] }));
    const [line = ""] = context.outgoingCookies;
    expect(line).toMatch(/^web_session=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    const user = runInContext(contextWith(line.split(";")[0]), () => session.user());
    expect(user).toEqual({ sub: "ada@example.org", name: "Ada", roles: ["admin"] });
  });
});
