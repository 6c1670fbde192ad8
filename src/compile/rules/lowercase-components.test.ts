import { describe, expect, test } from "vitest";
import { compileErrorAt, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { checkLowercaseComponents } from "./lowercase-components.ts";

const FILES = {
  "src/parts.tsx":
    'import { view } from "tsweb/browser";\nexport const guestList = view(() => <b />);\nexport const guestCard = () => <b />;\nexport function icon() { return <i />; }\nexport const limit = 3;\nexport const made = make();\nexport default () => <b />;',
  "src/barrel.ts": 'export { guestList as guests } from "./parts.tsx";',
};
const HEAD = `import other, { guestList, guestCard, icon, limit, made } from "./parts.tsx";
import { guests } from "./barrel.ts";
import { remote } from "remote";
import { type typed } from "./parts.tsx";
`;

const check = (code: string) =>
  checkLowercaseComponents(readTestModule("src/a.tsx", HEAD + code), inMemoryResolver(FILES));

describe("a component whose name begins with a small letter", () => {
  test.each([
    ["export const A = () => <p><«guestList /></p>;", "guestList", "GuestList"],
    ["export const A = () => <«guestCard name='a'>x</guestCard>;", "guestCard", "GuestCard"],
    ["export const A = () => <«icon />;", "icon", "Icon"],
    ["export const A = () => <«other />;", "other", "Other"],
    ["export const A = () => <«guests />;", "guests", "Guests"],
    ["const row = () => <b />;\nexport const A = () => <p>{list.map(() => <«row />)}</p>;", "row", "Row"],
    ["function row() { return <b />; }\nexport const A = () => <«row />;", "row", "Row"],
    ["export const A = () => { const row = () => <b />; return <«row />; };", "row", "Row"],
  ])("is rejected as an element: %s", async (code, name, component) => {
    const error = await compileErrorAt("src/a.tsx", HEAD + code, () => check(code));
    expect(error.message).toBe(
      `<${name}> does not use the component ${name}: JSX takes a name that begins with a small letter for an element, and ` +
        `HTML has no such element. Rename the component to ${component}, and write \`<${component}>\`.`,
    );
  });

  test.each([
    "const label = () => <b />; const time = () => 1;\nexport const A = () => <label><time /></label>;",
    "const linearGradient = () => 1; const path = join; function mi() {}\nexport const A = () => <svg><linearGradient /><path /><math><mi /></math></svg>;",
    "export const A = () => <limit />;",
    "export const A = () => <made />;",
    "export const A = () => <remote />;",
    "export const A = () => <typed />;",
    "export const A = () => <unknown-thing><mystery /></unknown-thing>;",
    "export const A = ({ row }) => <row />;",
    "export const A = () => { const mystery = 'x'; return <mystery />; };",
    "export const A = () => <p>{guestCard()}</p>;",
  ])("is not one in: %s", async (code) => {
    await expect(check(code)).resolves.toBeUndefined();
  });
});
