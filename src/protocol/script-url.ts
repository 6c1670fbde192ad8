/** As the URL parser of browsers reads a scheme: without leading control characters and spaces, tabs and line breaks. */
const SCRIPT_URL = new RegExp(`^[\\0-\\x20]*${[..."javascript:"].join("[\\t\\n\\r]*")}`, "i");

/**
 * Returns whether a URL runs as a script of the page: whether its scheme is `javascript:` after the URL parser of browsers.
 *
 * @see https://url.spec.whatwg.org/#concept-basic-url-parser
 */
export function isScriptUrl(url: string): boolean {
  return SCRIPT_URL.test(url);
}

/** The attributes whose URL a browser opens as a document or a script, in lower case and without colons. */
const URL_ATTRIBUTES = new Set(["href", "src", "action", "formaction", "xlinkhref"]);

/** The attributes of `animate` and `set` in SVG, which can set the attribute `href` of another element. */
const ANIMATION_VALUES = new Set(["to", "from", "by", "values"]);

/** Frequent elements for which no attribute is a URL. They are skipped, because each element of each page is checked. */
const WITHOUT_URLS = new Set(
  (
    "div span p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tfoot tr th td main section article header footer " +
    "nav aside b i em strong small code pre label option select textarea fieldset legend time title br hr"
  ).split(" "),
);

/**
 * Returns the names of the attributes of an element that are URLs of scripts: `href`, `src`, `action`, `formaction`,
 * `xlink:href`, `data` of `object`, and the values of SVG animations, in any case. Browsers run such a URL when it is
 * opened, with the rights of the page.
 *
 * @param type the name of the element
 */
export function scriptUrlAttributes(type: string, props: object): string[] | undefined {
  if (WITHOUT_URLS.has(type)) return undefined;
  let found: string[] | undefined;
  for (const name in props) {
    if (name === "children") continue;
    const value: unknown = props[name as never]; // a key of the object
    if (typeof value === "string" ? value.length < SHORTEST : typeof value !== "object") continue;
    if (!isScriptValue(type, name, value)) continue;
    found ??= [];
    found.push(name);
  }
  return found;
}

const SHORTEST = "javascript:".length;

/** The URL is tested first for a string, and the name first for an object, since few pass these tests. */
function isScriptValue(type: string, name: string, value: unknown): boolean {
  if (typeof value === "string") {
    if (isScriptUrl(value)) return isUrlAttribute(type, name);
    return isAnimationValue(type, name) && value.split(";").some(isScriptUrl); // a list, in `values`
  }
  // Rendered as its text, as a `URL` is.
  return value !== null && isUrlAttribute(type, name) && isScriptUrl(String(value));
}

function isUrlAttribute(type: string, name: string): boolean {
  const attribute = name.toLowerCase().replace(":", "");
  if (URL_ATTRIBUTES.has(attribute)) return true;
  return (attribute === "data" && type.toLowerCase() === "object") || isAnimationValue(type, name);
}

function isAnimationValue(type: string, name: string): boolean {
  return (type === "animate" || type === "set") && ANIMATION_VALUES.has(name.toLowerCase());
}
