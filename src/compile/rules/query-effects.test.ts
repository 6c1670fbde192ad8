import { describe, expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";

const IMPORT =
  'import { query, server, session, request, publish, channel, presence, send_file } from "tsweb";\nimport * as tsweb from "tsweb";\n';
const inQuery = (body: string) =>
  `${IMPORT}export const cards = query({ on: ["a"] }, async (board: string) => { ${body} });`;

async function errorOf(code: string): Promise<string> {
  const error = await compileErrorOf(() => readTestModule("src/a.server.ts", code));
  expect(error.loc).toMatchObject(parseMarkedCode(code).location ?? {});
  return error.message;
}

describe("a query that does what fails in every run", () => {
  test.each([
    ["publish", "await «publish(board);"],
    ["publish", "await «tsweb.publish(board);"],
    ["publish", "return rows.map(async () => { await «publish(board); });"],
    ["revalidate", "await «tsweb.revalidate(board);"],
    ["listen", "for await (const _ of «tsweb.listen(board));"],
    ["channel", "return «channel(board);"],
    ["presence", "return «presence(board);"],
    ["send_file", "return «send_file(board);"],
    ["session.login", "«session.login(board);"],
    ["session.logout", "«session.logout();"],
    ["session.revoke", "await «session.revoke(board);"],
  ])("is rejected: %s()", async (name, body) => {
    expect(await errorOf(inQuery(body))).toBe(
      `The query "cards" calls ${name}(), but a query only reads: it runs again after each message, outside every request. Call it ` +
        "in the page or in the server function that makes the change.",
    );
  });

  test("is rejected for a member of request", async () => {
    expect(await errorOf(inQuery("return «request.cookies.theme;"))).toBe(
      'The query "cards" reads request.cookies, but it runs outside every request: its value is for all who see the same. Pass what ' +
        "it needs as an argument of live().",
    );
  });

  test("is rejected if the function is declared on its own", async () => {
    const code = `${IMPORT}async function load() { await «publish("a"); }\nexport const cards = query({ on: ["a"] }, load);`;
    expect(await errorOf(code)).toContain("calls publish()");
  });
});

test.each([
  inQuery("return [session.user(), session.require(), session.sid];"),
  inQuery("const publish = (text: string) => text; return publish(board);"),
  `${IMPORT}export const cards = query({ on: (a) => [a, String(request.path)] }, (a: string) => a);`,
  `${IMPORT}export const add = server(async (a: string) => { await publish(a); session.logout(); return request.path; });`,
])("what a query may do, and what is outside of it, is accepted", (code) => {
  expect(() => readTestModule("src/a.server.ts", code)).not.toThrow();
});
