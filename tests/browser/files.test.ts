/**
 * The application of docs/files.md, type-checked, built, and used in Chromium: an avatar with and without script, a video
 * with progress, a download, and an upload to a storage that is not the application.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { build, type RunningServer, startBuilt } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

/** The address in the document, which stands for a storage. */
const STORAGE = "https://board.s3.eu-central-1.amazonaws.com";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

let browser: Browser;
let project: TestProject;
let running: RunningServer;
let users: BrowserUsers;
let storage: Server;
/** The bodies that the storage has received, by the path of the object. */
const stored = new Map<string, { readonly body: string; readonly signature: string | null }>();

/** Starts a storage that accepts signed addresses from every origin. */
async function startStorage(): Promise<string> {
  storage = createServer(async (request, response) => {
    const headers = {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "PUT",
      "access-control-allow-headers": "*",
    };
    if (request.method === "OPTIONS") return void response.writeHead(204, headers).end();
    let body = "";
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url ?? "", "http://storage");
    stored.set(url.pathname, { body, signature: url.searchParams.get("X-Amz-Signature") });
    response.writeHead(200, headers).end();
  });
  await new Promise<void>((resolve) => storage.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(storage.address() as AddressInfo).port}`; // a string for pipes only
}

beforeAll(async () => {
  const storageAddress = await startStorage();
  const files = documentedFiles("docs/files.md");
  project = TestProject.fromFiles({
    ...files,
    "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
    "public/favicon.ico": "",
  });
  project.linkPackages(repository, ["@types", "aws4fetch"]);
  expect(typeErrors()).toEqual("");
  const pages = "src/pages.server.tsx";
  project.write(pages, project.read(pages).replace(STORAGE, storageAddress));
  await build(project.dir);
  running = await startBuilt(project.dir, {
    WEB_ENV: "development",
    WEB_AUTH_SECRET: `${"9c".repeat(15)}0123456789abcdef${"7e".repeat(9)}`,
    S3_BUCKET: storageAddress,
    S3_ACCESS_KEY: "key",
    S3_SECRET_KEY: "secret",
  });
  browser = await launch();
  users = new BrowserUsers(browser, { baseURL: running.address });
});

afterEach(async () => {
  await users?.closeAll();
  expect(users?.problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  expect(await running?.stop()).toBe(0);
  storage?.close();
  project?.remove();
});

function typeErrors(): string {
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc], { cwd: project.dir, encoding: "utf8" }).stdout;
}

const photo = { name: "me.png", mimeType: "image/png", buffer: PNG };
const text = { name: "me.png", mimeType: "image/png", buffer: Buffer.from("no image") };

describe("an avatar", () => {
  it("is uploaded in the background, shown, and refused if it is no image", async () => {
    const page = await users.reusePage();
    await page.goto("/");
    const form = page.locator("form").first();
    await form.locator("input[type=file]").setInputFiles(text);
    await form.locator("button").click();
    await form.getByText("Choose a PNG or JPEG image.").waitFor();
    await form.locator("input[type=file]").setInputFiles(photo);
    await form.locator("button").click();
    const image = page.getByAltText("Your avatar");
    await image.waitFor();
    expect(await image.evaluate((element: HTMLImageElement) => element.decode().then(() => element.naturalWidth))).toBe(
      1,
    );
  });

  it("is uploaded without script", async () => {
    const page = await users.reusePage({ javaScriptEnabled: false });
    await page.goto("/");
    const form = page.locator("form").first();
    await form.locator("input[type=file]").setInputFiles(photo);
    await form.locator("button").click();
    const path = await page.getByAltText("Your avatar").getAttribute("src");
    const response = await fetch(running.address + path, { headers: { connection: "close" } });
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
    expect(response.headers.get("content-security-policy")).toBe("sandbox");
  });
});

it("a video is uploaded with its progress, and downloaded in parts", async () => {
  const page = await users.reusePage();
  await page.goto("/");
  const form = page.locator("form").nth(1);
  await form.locator("input[name=title]").fill("Holidays");
  await form.locator("input[type=file]").setInputFiles({
    name: "video.mp4",
    mimeType: "video/mp4",
    buffer: Buffer.alloc(3_000_000, "v"),
  });
  await form.locator("button").click();
  const path = await form.getByRole("link", { name: "Download" }).getAttribute("href");
  const response = await fetch(running.address + path, { headers: { connection: "close", range: "bytes=2999990-" } });
  expect([response.status, await response.text()]).toEqual([206, "v".repeat(10)]);
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="video.mp4"');
  await form.getByText("Uploaded: Holidays").waitFor();
});

it("a video of a call without a form is uploaded with its progress", async () => {
  const page = await users.reusePage();
  await page.goto("/");
  const clip = page.locator("label", { hasText: "Clip" });
  await clip.locator("input").setInputFiles({ name: "a.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(900_000) });
  await clip.getByText("Received 900000 bytes").waitFor();
  expect(await clip.locator("progress").evaluate((element: HTMLProgressElement) => element.value)).toBe(1);
});

it("a document goes to the storage itself, with a signed address", async () => {
  const page = await users.reusePage();
  await page.goto("/");
  await page
    .getByLabel("Document")
    .setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("contract") });
  await page.getByText("Stored").waitFor();
  expect([...stored.values()]).toEqual([{ body: "contract", signature: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
});
