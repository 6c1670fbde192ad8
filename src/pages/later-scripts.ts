/** The scripts for what a page shows or hydrates later: that of a view with the option `hydrate`, and that of a part. */
import { createHash } from "node:crypto";

/**
 * The module that the page script imports in place of one whose view is hydrated later: its only export is that view, which it imports
 * when the first element of the island comes near the screen, or when the browser has nothing else to do. So a page without such a
 * view loads nothing of it.
 *
 * The query of the address differs for each island, so that it has a module of its own: when to start, the number of the island, and
 * the address and the name of the view. Vite adds parameters in development. It imports from its own origin only.
 */
export const DEFERRED_SCRIPT = `const [when, index, src, name] = JSON.parse(decodeURIComponent(import.meta.url.split(/[?&]/).find((part) => part.startsWith("%5B"))))
const url = new URL(src, import.meta.url), text = JSON.parse(document.querySelector("script#tsweb").textContent).mark + ":" + index
if (url.origin != location.origin) throw new Error("Not of this site: " + src)
await new Promise((start) => {
if (when == "idle") return self.requestIdleCallback ? requestIdleCallback(start, { timeout: 2000 }) : setTimeout(start, 200)
const walker = document.createTreeWalker(document, 128), elements = []
while (walker.nextNode() && walker.currentNode.data != text);
for (let node = walker.currentNode; node && node.data != "/" + text; node = node.nextSibling) if (node.nodeType == 1) elements.push(node)
if (!elements.length) return start()
const observer = new IntersectionObserver((entries) => {
if (entries.some((entry) => entry.isIntersecting)) observer.disconnect(), start()
}, { rootMargin: "200px" })
for (const element of elements) observer.observe(element)
})
export const view = (await import(url.href))[name]
`;

/** The path of the module below the base. It contains a hash of the module, which browsers keep. */
export const DEFERRED_SCRIPT_PATH = `/assets/deferred-${createHash("sha256").update(DEFERRED_SCRIPT).digest("base64url").slice(0, 8)}.js`;

/**
 * Returns the address of the module that hydrates a view later.
 *
 * @param island the number of its island
 */
export function deferredUrl(
  base: string,
  view: { readonly when: string; readonly island: number; readonly src: string; readonly name: string },
): string {
  const { when, island, src, name } = view;
  return `${base}${DEFERRED_SCRIPT_PATH}?${encodeURIComponent(JSON.stringify([when, island, src, name]))}`;
}

/**
 * The script behind each part of a page. In a browser without `<template for>`, it replaces the place of the part by the content of
 * the template. In all, it starts the views of the part.
 *
 * It is a classic script, which runs where the parser finds it, each time: the template before it is then complete. Such browsers
 * have the start and the end of a place as comments, or as processing instructions.
 *
 * The mark of the page data is new for each response, so that other HTML of the page cannot pass for the data of a part.
 *
 * @see https://html.spec.whatwg.org/multipage/scripting.html#attr-template-for
 */
export const LATER_SCRIPT = `(() => {
let json = document.currentScript.previousElementSibling, template = json.previousElementSibling, d = document,
part = JSON.parse(json.textContent), name = 'name="' + part.mark + "-" + part.part + '"', node, next
if (!("htmlFor" in HTMLTemplateElement.prototype)) {
let walker = d.createTreeWalker(d.body, 192)
while (walker.nextNode() && !walker.currentNode.data.endsWith(name));
if (walker.currentNode != d.body) {
for (node = walker.currentNode; node && !/^\\??end$/.test(node.target || node.data); node = next) next = node.nextSibling, node.remove()
node.replaceWith(template.content)
}
template.remove()
}
if (part.views && JSON.parse(d.querySelector("script#tsweb").textContent).mark == part.mark) {
import(part.src).then(({ comments, startView }) => {
for (node = d.createTreeWalker(d, 128); next = node.nextNode(); ) comments[next.data] = next
part.views.forEach((view, index) => startView(view, part.first + index))
})
}
})()
`;

/** The path of the script below the base. It contains a hash of the script, which browsers keep. */
export const LATER_SCRIPT_PATH = `/assets/later-${createHash("sha256").update(LATER_SCRIPT).digest("base64url").slice(0, 8)}.js`;
