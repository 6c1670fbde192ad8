import { createHash } from "node:crypto";

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
