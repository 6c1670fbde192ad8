import { h } from "preact";
import { describe, expect, it } from "vitest";
import { callOverHttp, compiledPage, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import type { App } from "../app.ts";
import { request } from "../http/index.ts";
import { session } from "../session/index.ts";

const shown = (value: unknown) => h("pre", null, JSON.stringify(value));

/** Returns the JSON that a page shows. */
async function readShownJson(response: Response): Promise<unknown> {
  const text = /<pre>(.*?)<\/pre>/s.exec(await response.text())?.[1] ?? "";
  return JSON.parse(text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&"));
}

describe("200 concurrent requests", () => {
  /** Returns a function that waits until all requests have called it, and resumes them in reverse order. */
  function reverseBarrier(count: number): () => Promise<void> {
    const waiting: (() => void)[] = [];
    return () =>
      new Promise((resume) => {
        waiting.push(resume);
        if (waiting.length % count !== 0) return;
        for (const resume of waiting.splice(0).reverse()) resume();
      });
  }

  /** The values that code reads of its request at one moment. */
  const snapshot = () => [request.id, request.cookies.who, session.user()?.sub ?? null];

  function barrierApp(count: number): App {
    const barrier = reverseBarrier(count);
    const work = async () => {
      const snapshots = [snapshot()];
      await barrier();
      snapshots.push(snapshot());
      session.login(`user-${request.id}`);
      request.set_cookie("mine", request.id);
      await barrier();
      await new Promise((resume) => setImmediate(resume));
      snapshots.push(snapshot());
      return snapshots;
    };
    const module = {
      page: compiledPage("/", async () => shown(await work())),
      call: compiledServer("call", work),
      stream: compiledServer(
        "stream",
        async function* () {
          for (const value of await work()) {
            yield value;
            await barrier();
          }
          yield snapshot();
        },
        { stream: true },
      ),
    };
    return createTestApp(module, { rate: false, env: { WEB_MAX_STREAMS_PER_CLIENT: String(count) } });
  }

  const send = {
    page: async (app: App, headers: Record<string, string>) => {
      const response = await getPage(app, "/", { headers });
      return { response, snapshots: (await readShownJson(response.clone())) as unknown[] };
    },
    call: async (app: App, headers: Record<string, string>) => {
      const response = await callOverHttp(app, "call", {}, { headers });
      return { response, snapshots: (await response.clone().json()).result as unknown[] };
    },
    stream: async (app: App, headers: Record<string, string>) => {
      const response = await callOverHttp(app, "stream", {}, { headers });
      const lines = (await response.clone().text()).trimEnd().split("\n");
      return { response, snapshots: lines.slice(0, -1).map((line) => JSON.parse(line).chunk as unknown) };
    },
  };

  it.each(["page", "call", "stream"] as const)("never share ids, sessions or cookies (%s)", async (kind) => {
    const testApp = barrierApp(200);
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const id = `request-${n}`;
        const { response, snapshots } = await send[kind](testApp, { "x-request-id": id, cookie: `who=${n}` });
        const before = [id, String(n), null];
        const after = [id, String(n), `user-${id}`];
        expect(snapshots).toEqual(kind === "stream" ? [before, before, after, after] : [before, before, after]);
        expect(response.headers.get("x-request-id")).toBe(id);
        const cookies = response.headers.getSetCookie();
        expect(cookies).toHaveLength(2);
        expect(cookies[1]).toBe(`mine=${id}; Path=/; HttpOnly; SameSite=Lax`);
        const payload = /^web_session=([\w-]+)\./.exec(cookies[0] ?? "")?.[1] ?? "";
        expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toMatchObject({ sub: `user-${id}` });
      }),
    );
  });
});
