/**
 * The board example in Chromium: two members, drag and drop, images, and a member without script.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { IS_MATRIX } from "#test/matrix";
import { findAccessibilityProblems } from "./accounts-actions.ts";
import { addCard, BoardApp, cardIn, createBoard, dragWithMouse, PNG, pickUpFocusedCard } from "./board-app.ts";

describe("the board example, built", () => {
  let app: BoardApp;

  beforeAll(async () => {
    app = await BoardApp.open("built");
  });

  afterEach(async () => {
    expect(await app.clear()).toEqual([]);
  });

  afterAll(() => app?.close());

  it("sends signed-out users to the sign-in page and back to the board", async () => {
    const ada = await app.signUp("Ada");
    await createBoard(ada, "Plan");
    const { pathname } = new URL(ada.url());

    const grace = await app.users.reusePage();
    await grace.goto(pathname);
    await expect.poll(() => grace.url()).toBe(`${app.address}/sign-in?next=${encodeURIComponent(pathname)}`);
    await grace.getByLabel("Email").fill("grace@team.example");
    await grace.getByLabel("Password").fill("wrong horse");
    await grace.getByRole("button", { name: "Sign in" }).click();
    await grace.getByText("Unknown address or wrong password.").waitFor();
    expect(await grace.getByLabel("Email").inputValue()).toBe("grace@team.example");
    await grace.getByRole("link", { name: "Create an account" }).click();
    await grace.getByLabel("Name").fill("Grace");
    await grace.getByLabel("Email").fill("grace@team.example");
    await grace.getByLabel("Password").fill("correct horse");
    await grace.getByRole("button", { name: "Sign up" }).click();
    await grace.waitForURL(`**${pathname}`);
    expect(await grace.getByRole("heading", { level: 1 }).textContent()).toBe("Plan");

    await grace.getByRole("button", { name: "Sign out" }).click();
    await grace.waitForURL("**/sign-in");
    for (const url of ["/", "/profile", pathname]) {
      await grace.goto(url);
      expect(new URL(grace.url()).pathname).toBe("/sign-in");
    }
  });

  it("refuses an address that is registered, and shows what was typed again", async () => {
    const ada = await app.signUp("Ada");
    await ada.goto("/profile");
    const email = (await ada.locator(".panel .soft").first().textContent()) ?? "";
    const page = await app.users.reusePage();
    await page.goto("/sign-up");
    await page.getByLabel("Name").fill("Eve");
    await page.getByLabel("Email").fill(email.toUpperCase());
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.locator(".form-errors", { hasText: "This address is registered already." }).waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Eve");
    expect(await page.getByLabel("Password").inputValue()).toBe("");
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    expect(await page.locator("script").count()).toBe(0);
  });

  it("shows what one member does to the other: cards are added, dragged and removed", async () => {
    const [ada, grace] = [await app.signUp("Ada"), await app.signUp("Grace")];
    await createBoard(ada, "Release");
    await grace.goto(ada.url());
    for (const page of [ada, grace]) await page.getByRole("list", { name: "To do" }).waitFor({ state: "attached" });

    await addCard(ada, "To do", "Write");
    await cardIn(grace, "To do", "Write").waitFor();
    await expect.poll(() => ada.getByLabel("New card in To do").inputValue()).toBe("");
    await addCard(grace, "Done", "Measure");
    await cardIn(ada, "Done", "Measure").waitFor();
    expect(
      await ada.getByRole("img", { name: "Ada: 1 to do, 0 doing, 0 done; Grace: 0 to do, 0 doing, 1 done" }).count(),
    ).toBe(1);

    await ada.getByRole("button", { name: "Drag “Write”" }).waitFor();
    await dragWithMouse(ada, cardIn(ada, "To do", "Write"), "Doing");
    for (const page of [ada, grace]) await cardIn(page, "Doing", "Write").waitFor();
    await grace.reload();
    await cardIn(grace, "Doing", "Write").waitFor();
    expect(await grace.evaluate(findAccessibilityProblems)).toEqual([]);

    await grace.getByRole("button", { name: "Move “Write” to Done" }).click();
    for (const page of [ada, grace]) await cardIn(page, "Done", "Write").waitFor();
    await grace.getByRole("button", { name: "Remove “Measure”" }).click();
    for (const page of [ada, grace]) await cardIn(page, "Done", "Measure").waitFor({ state: "detached" });
  });

  it("moves a card with the keyboard, announces it, and keeps the focus on it", async () => {
    const ada = await app.signUp("Ada");
    await createBoard(ada, "Keys");
    await addCard(ada, "To do", "Test");
    const handle = ada.getByRole("button", { name: "Drag “Test”" });
    const announced = (text: string) => ada.locator("[role=status]", { hasText: text }).waitFor({ state: "attached" });
    await handle.focus();
    await pickUpFocusedCard(ada);
    await announced("Test is over To do.");
    await ada.keyboard.press("ArrowRight");
    await announced("Test is over Doing.");
    await ada.keyboard.press("Space");
    await cardIn(ada, "Doing", "Test").waitFor();
    await announced("Test is in Doing.");
    await expect.poll(() => handle.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  it("moves a card with keys that are pressed faster than the board is drawn", async () => {
    const ada = await app.signUp("Ada");
    await createBoard(ada, "Fast keys");
    await addCard(ada, "To do", "Test");
    await ada.getByRole("button", { name: "Drag “Test”" }).focus();
    await pickUpFocusedCard(ada);
    for (const key of ["ArrowRight", "ArrowRight", "Space"]) await ada.keyboard.press(key);
    await ada.locator("[role=status]", { hasText: "Test is in Done." }).waitFor({ state: "attached" });
    await cardIn(ada, "Done", "Test").waitFor();
  });

  it("puts a card back and says why, if it cannot be moved", async () => {
    const ada = await app.signUp("Ada");
    await createBoard(ada, "Offline");
    await addCard(ada, "To do", "Test");
    await ada.getByRole("button", { name: "Drag “Test”" }).waitFor();
    await ada.route("**/__web/rpc/move_card", (route) => route.fulfill({ status: 502, body: "Bad gateway" }));
    await dragWithMouse(ada, cardIn(ada, "To do", "Test"), "Done");
    await expect.poll(() => ada.locator("[role=alert]").first().textContent()).not.toBe("");
    await cardIn(ada, "To do", "Test").waitFor();
    expect(app.users.problems.splice(0)).toEqual([expect.stringContaining("502")]);
  });

  it("shows the uploaded image of a member, and refuses what is no image", async () => {
    const ada = await app.signUp("Ada");
    await createBoard(ada, "Faces");
    const url = ada.url();
    await addCard(ada, "To do", "Smile");
    await cardIn(ada, "To do", "Smile").waitFor();
    await ada.goto("/profile");
    const upload = async (buffer: Buffer) => {
      await ada.getByLabel("Image").setInputFiles({ name: "me.png", mimeType: "image/png", buffer });
      await ada.getByRole("button", { name: "Upload" }).click();
    };
    await upload(Buffer.from("<svg onload='alert(1)'>"));
    await ada.getByText("Choose a PNG, JPEG or WebP image.").waitFor();
    await upload(PNG);
    const image = ada.locator(".large img");
    await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1);
    expect(await ada.evaluate(findAccessibilityProblems)).toEqual([]);
    const source = (await image.getAttribute("src")) ?? "";
    expect((await fetch(app.address + source)).status).toBe(401);

    await upload(PNG);
    await expect.poll(() => image.getAttribute("src")).not.toBe(source);
    expect((await ada.request.get(source)).status()).toBe(404); // the previous image was deleted
    await ada.goto(url);
    await expect.poll(() => cardIn(ada, "To do", "Smile").locator("img").count()).toBe(1);

    await ada.goto("/profile");
    await upload(Buffer.alloc(2_100_000));
    await ada.getByRole("heading", { name: "Something went wrong" }).waitFor();
  });

  it("works without script: sign-up, and cards are added, moved and removed by forms", async () => {
    const ada = await app.signUp("Ada");
    await createBoard(ada, "Both");
    const nia = await app.users.reusePage({ javaScriptEnabled: false });
    await nia.goto("/");
    await nia.getByRole("link", { name: "Create an account" }).click();
    await nia.getByLabel("Name").fill("Nia");
    await nia.getByLabel("Email").fill("nia@team.example");
    await nia.getByLabel("Password").fill("correct horse");
    await nia.getByRole("button", { name: "Sign up" }).click();
    await nia.waitForURL(`${app.address}/`);
    await nia.goto(ada.url());
    await addCard(nia, "To do", "   ");
    await nia.getByText("Write what is to do.").waitFor();
    await addCard(nia, "To do", "Plain");
    await cardIn(nia, "To do", "Plain").waitFor();
    await cardIn(ada, "To do", "Plain").waitFor();
    expect(nia.url()).toBe(ada.url()); // a reload sends nothing twice
    await nia.getByRole("button", { name: "Move “Plain” to Doing" }).click();
    for (const page of [ada, nia]) await cardIn(page, "Doing", "Plain").waitFor();
    expect(await nia.getByRole("button", { name: /^Drag/ }).count()).toBe(0);
    await nia.getByRole("button", { name: "Remove “Plain”" }).click();
    for (const page of [ada, nia]) await cardIn(page, "Doing", "Plain").waitFor({ state: "detached" });
  });
});

describe("the board example, in development", () => {
  let app: BoardApp;

  beforeAll(async () => {
    app = await BoardApp.open("dev");
  });

  afterAll(() => app?.close());

  // The built example shows the same, and other tests show views with React libraries in development.
  if (IS_MATRIX)
    it("shows a card that one member adds and drags to the other", async () => {
      const [ada, grace] = [await app.signUp("Ada"), await app.signUp("Grace")];
      await createBoard(ada, "Release");
      await grace.goto(ada.url());
      await addCard(ada, "To do", "Write");
      await cardIn(grace, "To do", "Write").waitFor();
      await grace.getByRole("button", { name: "Drag “Write”" }).waitFor();
      await dragWithMouse(grace, cardIn(grace, "To do", "Write"), "Doing");
      for (const page of [ada, grace]) await cardIn(page, "Doing", "Write").waitFor();
      expect(await app.clear()).toEqual([]);
    });

  it("logs no hash of a password when the database fails", async () => {
    expect((await fetch(`${app.address}/sign-up`)).status).toBe(200); // creates the database
    await app.sql("ALTER TABLE users RENAME COLUMN avatar TO picture");
    const body = new FormData();
    for (const [name, value] of Object.entries({ name: "Eve", email: "eve@team.example", password: "correct horse" })) {
      body.set(name, value);
    }
    const headers = { origin: app.address };
    const response = await fetch(`${app.address}/sign-up?__form=sign_up`, { method: "POST", body, headers });
    expect(response.status).toBe(500);
    await expect.poll(() => app.output()).toContain("The user could not be stored");
    expect(app.output()).toContain("avatar"); // the message of the database
    expect(app.output()).not.toMatch(/pbkdf2|correct horse/);
  });
});
