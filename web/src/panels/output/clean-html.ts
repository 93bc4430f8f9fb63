/**
 * Sanitizes the HTML of programs: the result loads nothing, links nowhere and hides nothing.
 * Browsers resolve other hosts, and connect to them, for some elements whose
 * loading the page's policy then forbids.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Allowed elements; of other elements only the content is retained. */
const HTML = words(`a abbr address article aside b bdi bdo big blockquote br button caption center cite code col
  colgroup data dd del details dfn div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4 h5 h6 header
  hgroup hr i img input ins kbd label legend li main mark menu meter nav ol optgroup option output p pre progress q
  rp rt ruby s samp search section select small span strike strong style sub summary sup table tbody td textarea
  tfoot th thead time tr tt u ul var wbr`);

const SVG = words(`svg g path rect circle ellipse line polyline polygon text tspan textpath defs lineargradient
  radialgradient stop clippath mask pattern marker symbol use title desc image filter feblend fecolormatrix
  fecomponenttransfer fecomposite fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur femerge
  femergenode femorphology feoffset feturbulence`);

const MATHML = words(`math mi mn mo ms mtext mrow mfrac msqrt mroot msub msup msubsup munder mover munderover
  mtable mtr mtd mspace mstyle mpadded mphantom merror mmultiscripts mprescripts semantics annotation`);

const NAMESPACES: Readonly<Record<string, ReadonlySet<string>>> = {
  "http://www.w3.org/1999/xhtml": HTML,
  "http://www.w3.org/2000/svg": SVG,
  "http://www.w3.org/1998/Math/MathML": MATHML,
};

/** Elements that are removed with their content. */
const REMOVED = words(`script iframe frame frameset noframes object embed applet template noembed noscript title
  audio video canvas foreignobject annotation-xml xmp plaintext`);

/** Allowed attributes, in addition to `aria-…` and `data-…`. */
const ATTRIBUTES = words(`abbr align alt bgcolor border cellpadding cellspacing checked class color cols colspan
  datetime dir disabled face for headers height hidden high id label lang low max maxlength min multiple name open
  optimum placeholder readonly role rows rowspan scope selected size span start step style tabindex title translate
  type valign value width
  alignment-baseline baseline-shift clip-path clip-rule clippathunits cx cy d direction display dominant-baseline
  dx dy edgemode fill fill-opacity fill-rule filter filterunits flood-color flood-opacity font-family font-size
  font-stretch font-style font-variant font-weight fr fx fy gradienttransform gradientunits image-rendering in in2
  k1 k2 k3 k4 lengthadjust letter-spacing marker-end marker-mid marker-start markerheight markerunits markerwidth
  mask maskcontentunits maskunits mode numoctaves offset opacity operator orient overflow paint-order
  patterncontentunits patterntransform patternunits points preserveaspectratio r radius refx refy result rotate rx
  ry seed shape-rendering spreadmethod startoffset stddeviation stop-color stop-opacity stroke stroke-dasharray
  stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width tablevalues
  text-anchor text-decoration text-rendering textlength transform transform-origin values vector-effect version
  viewbox visibility word-spacing writing-mode x x1 x2 xml:space y y1 y2
  accent columnalign columnlines columnspacing columnspan displaystyle encoding fence linethickness lspace
  mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits rowalign rowlines rowspacing rspace
  scriptlevel separator stretchy symmetric`);
const FREE = /^(aria|data)-[\w-]+$/;

/** Allowed addresses by element; other elements may have none. */
const ADDRESSES: Readonly<Record<string, RegExp>> = { a: /^#/, use: /^#/, img: /^data:image\//i, image: /^data:image\//i };
/** Attributes that hold an address. */
const ADDRESSED = words("href xlink:href src");

/** Limit of repetitions: cleaned text may parse into other elements, and is cleaned again. */
const MOST_TIMES = 4;

/** Return cleaned HTML that stays the same when it is parsed and cleaned again. */
export function cleanHtml(html: string): string {
  let text = html;
  for (let time = 0; time < MOST_TIMES; time++) {
    const cleaned = cleanedOnce(text);
    if (cleaned === text) return text;
    text = cleaned;
  }
  return "<p>This HTML reads differently each time, so it is not shown.</p>";
}

/** Parse and clean once. A document of DOMParser loads nothing and runs nothing. */
function cleanedOnce(html: string): string {
  const { head, body } = new DOMParser().parseFromString(html, "text/html");
  for (const part of [head, body]) cleanWithin(part);
  return head.innerHTML + body.innerHTML;
}

function cleanWithin(parent: Element): void {
  for (let node = parent.firstChild; node; ) {
    let next = node.nextSibling;
    if (!(node instanceof Element)) {
      if (!(node instanceof Text)) node.remove();
    } else if (isAllowed(node)) {
      cleanAttributes(node);
      cleanWithin(node);
    } else if (REMOVED.has(node.localName.toLowerCase())) node.remove();
    else {
      next = node.firstChild ?? next;
      node.replaceWith(...node.childNodes);
    }
    node = next;
  }
}

function isAllowed({ localName, namespaceURI }: Element): boolean {
  return NAMESPACES[namespaceURI ?? ""]?.has(localName.toLowerCase()) ?? false;
}

function cleanAttributes(element: Element): void {
  for (const { name, value } of [...element.attributes]) {
    const known = name.toLowerCase();
    const isAddress = ADDRESSED.has(known);
    const mayStay = isAddress
      ? ADDRESSES[element.localName]?.test(value.trim())
      : ATTRIBUTES.has(known) || FREE.test(known);
    if (!mayStay) element.removeAttribute(name);
  }
}
