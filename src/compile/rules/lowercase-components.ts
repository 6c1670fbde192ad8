import {
  exportedValue,
  importedNameOf,
  isFunctionValue,
  type ModuleFacts,
  type ModuleResolver,
  resolveImported,
} from "../modules/index.ts";
import { CompileError, type ImportedName, isFunctionNode, nodesOf } from "../syntax/index.ts";

/**
 * Rejects elements such as `<guestList />` if `guestList` is a view or a function: JSX creates an element of this name, which
 * browsers show empty. Elements of HTML, SVG and MathML, and names of other values, are accepted.
 *
 * @throws CompileError at the name of the element
 */
export async function checkLowercaseComponents(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  for (const { node, scope } of nodesOf(facts.scopes, "JSXOpeningElement")) {
    if (node.name.type !== "JSXIdentifier") continue;
    const { name } = node.name;
    if (!/^[a-z]/.test(name) || isElementName(name)) continue;
    const imported = importedNameOf(node.name, scope);
    const isComponent = imported
      ? await isFunction(imported, facts, resolver)
      : isFunctionValue({ ...node.name, type: "Identifier" }, scope);
    if (!isComponent) continue;
    const component = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    throw new CompileError(
      `<${name}> does not use the component ${name}: JSX takes a name that begins with a small letter for an element, and ` +
        `HTML has no such element. Rename the component to ${component}, and write \`<${component}>\`.`,
      facts.source,
      node.name,
    );
  }
}

/** Returns whether an import is certainly a view or a function of the project. */
async function isFunction(imported: ImportedName, facts: ModuleFacts, resolver: ModuleResolver): Promise<boolean> {
  const origin = await resolveImported(imported, facts, resolver);
  if (origin?.view) return true;
  const value = origin && exportedValue(origin);
  return value !== undefined && isFunctionNode(value);
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** The elements of HTML, also obsolete ones. */
const HTML = set(
  "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br " +
    "button canvas caption center cite code col colgroup content data datalist dd del details dfn dialog dir div dl dt " +
    "element em embed fencedframe fieldset figcaption figure font footer form frame frameset geolocation h1 h2 h3 h4 h5 " +
    "h6 head header hgroup hr html i iframe image img input ins isindex kbd keygen label legend li link listing main map " +
    "mark marquee menu menuitem meta meter multicol nav nextid nobr noembed noframes noscript object ol optgroup option " +
    "output p param permission picture plaintext pre progress q rb rbc rp rt rtc ruby s samp script search section select " +
    "selectedcontent shadow slot small source spacer span strike strong style sub summary sup table tbody td template " +
    "textarea tfoot th thead time title tr track tt u ul usermedia var video wbr webview xmp portal command",
);
/** The elements of SVG, also obsolete ones. */
const SVG = set(
  "a altGlyph altGlyphDef altGlyphItem animate animateColor animateMotion animateTransform animation circle clipPath " +
    "color-profile cursor defs desc discard ellipse feBlend feColorMatrix feComponentTransfer feComposite " +
    "feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG " +
    "feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight " +
    "feTile feTurbulence filter font foreignObject g glyph glyphRef handler hatch hatchpath hkern image line " +
    "linearGradient listener marker mask mesh meshgradient meshpatch meshrow metadata mpath path pattern polygon polyline " +
    "prefetch radialGradient rect script set solidColor solidcolor stop style svg switch symbol tbreak text textArea " +
    "textPath title tref tspan unknown use view vkern",
);
/** The elements of MathML 3 and Core. */
const MATHML = set(
  "abs and annotation apply approx arccos arccosh arccot arccoth arccsc arccsch arcsec arcsech arcsin arcsinh arctan " +
    "arctanh arg bind bvar bytes card cartesianproduct cbytes ceiling cerror ci cn codomain complexes compose condition " +
    "conjugate cos cosh cot coth cs csc csch csymbol curl declare degree determinant diff divergence divide domain " +
    "domainofapplication emptyset eq equivalent eulergamma exists exp exponentiale factorial factorof false floor fn " +
    "forall gcd geq grad gt ident image imaginary imaginaryi implies in infinity int integers intersect interval inverse " +
    "lambda laplacian lcm leq limit list ln log logbase lowlimit lt maction maligngroup malignmark math matrix " +
    "matrixrow max mean median menclose merror mfenced mfrac mfraction mglyph mi min minus mlabeledtr mlongdiv " +
    "mmultiscripts mn mo mode moment momentabout mover mpadded mphantom mprescripts mroot mrow ms mscarries mscarry " +
    "msgroup msline mspace msqrt msrow mstack mstyle msub msubsup msup mtable mtd mtext mtr munder munderover " +
    "naturalnumbers neq none not notanumber notin notprsubset notsubset or otherwise outerproduct partialdiff pi piece " +
    "piecewise plus power primes product prsubset quotient rationals real reals reln rem root scalarproduct sdev sec sech " +
    "selector semantics sep setdiff share sin sinh span subset sum tan tanh tendsto times transpose true union uplimit " +
    "variance vector vectorproduct xor",
);

/** Returns whether HTML, SVG or MathML has an element of this name. Errs towards yes: names of custom elements have a dash. */
function isElementName(name: string): boolean {
  return HTML.has(name) || SVG.has(name) || MATHML.has(name) || name.includes("-");
}
