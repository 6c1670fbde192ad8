import { describe, expect, it } from "vitest";
import { foreignPageAdvice } from "./unloaded-pages.ts";

const adviceFor = (path: string, file: string, text: string) =>
  foreignPageAdvice(path, [{ file: `/app/${file}`, text }], "/app");

const LISTED = "in a module whose name ends with .server.tsx and which `modules` of new App lists.";
const ABOUT = "\nexport default function About() {\n  return <p />;\n}\n";

describe("the advice about a page that is declared as in another framework", () => {
  it("states how to declare a component as a page", () => {
    expect(adviceFor("/about", "src/app/about/page.tsx", ABOUT)).toBe(
      "src/app/about/page.tsx:2 exports a component by default, which declares no page. Write " +
        `\`export const about = page("/about", () => <About />)\` ${LISTED}`,
    );
    expect(adviceFor("/about/", "src/other.server.tsx", ABOUT)).toMatch(/<About \/>\)` there\.$/);
  });

  it.each([
    ["/", "src/pages/index.tsx", "export default async () => <p />;", 'export const home = page("/", () => …)'],
    [
      "/shop/my-pens",
      "src/routes/shop/my-pens.tsx",
      "export default class Pens {}",
      "export const shop_my_pens = page(",
    ],
    ["/shop", "src/app/(main)/shop/page.jsx", "export default (props) => null;", 'export const shop = page("/shop", '],
    ["/2024", "src/2024.tsx", "export default function () {}", 'export const page_2024 = page("/2024", () => …)'],
    ["/about-us", "src/x.tsx", "export default function AboutUsPage() {}", "() => <AboutUsPage />)"],
    [
      "/api/pens",
      "src/app/api/pens/route.ts",
      "export async function GET() {}",
      'export const api_pens = route("GET /api/pens", async (request) => …)',
    ],
    [
      "/pens",
      "src/pens.server.ts",
      "export const GET = () => new Response();",
      "exports GET, which tsweb does not call. Write `export const pens = route(",
    ],
    [
      "/pens",
      "src/routes/pens.tsx",
      "export const loader = async () => ({});",
      "exports loader, which tsweb does not call. The function of a page loads its data. Write",
    ],
  ])("finds the file or the component of %s: %s", (path, file, text, fix) => {
    expect(adviceFor(path, file, text)).toContain(fix);
  });

  it.each([
    ["/about", "src/other.tsx", "export default function Other() {}"],
    ["/about", "src/about.tsx", "// export default function About() {}"],
    ["/about", "src/about.tsx", "export function About() {}"],
    ["/about", "src/about.ts", "export default function about() {}"],
    ["/about", "src/about.tsx", "export default { title: 1 };"],
    ["/", "src/x.tsx", "export default function Page() {}"],
    ["/pens", "src/pens.server.ts", 'export const GET = route("GET /pencils", () => null);'],
    ["/pens", "src/other.server.ts", "export const GET = () => null;"],
    ["/pens", "src/pens.server.ts", "export async function POST() {}"],
    ["/[id]", "src/app/[id]/page.tsx", "export default function Page() {}"],
  ])("is absent if nothing certainly is the page %s: %s, %s", (path, file, text) => {
    expect(adviceFor(path, file, text)).toBeUndefined();
  });
});
