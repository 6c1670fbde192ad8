import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkFolderName, packageName } from "./arguments.ts";

describe("packageName", () => {
  it.each([
    ["/home/ada/shop", "shop"],
    ["/home/ada/My Shop", "my-shop"],
    ["/home/ada/SHOP", "shop"],
    ["/home/ada/shop/", "shop"],
    ["/home/ada/Ünï's  Café!", "uni-s-cafe"],
    ["/home/ada/İstanbul", "istanbul"],
    ["/home/ada/.hidden", "hidden"],
    ["/home/ada/_-shop-_", "shop-_"],
    ["/home/ada/shop.example", "shop.example"],
    ["/home/ada/2 shops", "2-shops"],
    ["/home/ada/@acme/shop", "shop"],
    ["/home/ada/日本", "app"],
    ["/", "app"],
  ])("of %s returns %s", (dir, name) => {
    expect(packageName(dir)).toBe(name);
  });

  it.each(["tsweb", "typescript", "Vitest", "node_modules", "favicon.ico"])(
    "does not return the reserved name %s",
    (name) => {
      expect(packageName(`/home/ada/${name}`)).toBe(`${name.toLowerCase()}-app`);
    },
  );

  it("returns a name that npm accepts, for any folder", () => {
    const anything = fc.array(fc.nat(0x10ffff)).map((points) => String.fromCodePoint(...points));
    const folder = fc.oneof(anything, fc.string(), fc.string({ minLength: 200, maxLength: 300 }));
    fc.assert(
      fc.property(folder, (text) => {
        const name = packageName(`/${text}`);
        expect(name).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
        expect(name.length).toBeLessThanOrEqual(214);
      }),
    );
  });
});

describe("checkFolderName", () => {
  it.each(["shop", ".", "..", "My Shop", "../shop", "/srv/shop/", "日本"])("accepts %j", (text) => {
    expect(() => checkFolderName(text)).not.toThrow();
  });

  it.each(["", "  ", "-x", "-x/shop", "a\nb", "a\0b"])("rejects %j with an example of a valid command", (text) => {
    expect(() => checkFolderName(text)).toThrow(
      `${JSON.stringify(text)} cannot be the name of a folder. Choose another one: `,
    );
  });
});
